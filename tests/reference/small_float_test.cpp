#include "numbers/small_float.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace numbers;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::uint32_t patterns(const SmallFloat& format) {
  return 1U << (1 + format.exponent_bits + format.mantissa_bits);
}

}  // namespace

TEST_CASE("known bit patterns of the short floats are decoded to their values") {
  CHECK(decode(f16_format, 0x3c00) == 1.0F);
  CHECK(decode(f16_format, 0x7bff) == 65504.0F);
  CHECK(decode(f16_format, 0x0001) == std::ldexp(1.0F, -24));
  CHECK(decode(f16_format, 0xfc00) == -infinity);
  CHECK(decode(bf16_format, 0x3f80) == 1.0F);
  CHECK(decode(bf16_format, 0x4049) == 3.140625F);
  CHECK(decode(e4m3_format, 0x38) == 1.0F);
  CHECK(decode(e4m3_format, 0x7e) == 448.0F);
  CHECK(decode(e4m3_format, 0x01) == std::ldexp(1.0F, -9));
  CHECK(std::isnan(decode(e4m3_format, 0xff)));
  CHECK(decode(e5m2_format, 0x7b) == 57344.0F);
  CHECK(decode(e5m2_format, 0x7c) == infinity);
  CHECK(decode(e5m2_format, 0x01) == std::ldexp(1.0F, -16));
}

TEST_CASE("bf16 is the upper half of f32, for every pattern") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto expected = std::bit_cast<float>(bits << 16);
    const auto value = decode(bf16_format, static_cast<std::uint16_t>(bits));
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(value));
    } else {
      REQUIRE(std::bit_cast<std::uint32_t>(value) == bits << 16);
    }
  }
}

TEST_CASE("encoding a decoded value gives the same bit pattern, for every pattern") {
  const auto format = GENERATE(f16_format, bf16_format, e4m3_format, e5m2_format);
  for (std::uint32_t bits = 0; bits < patterns(format); ++bits) {
    const auto value = decode(format, static_cast<std::uint16_t>(bits));
    if (std::isnan(value) || (format.saturates && std::isinf(value))) continue;
    REQUIRE(encode(format, value) == bits);
  }
}

TEST_CASE("encoding rounds to nearest, ties to even, between all pairs of adjacent values") {
  const auto format = GENERATE(f16_format, bf16_format, e4m3_format, e5m2_format);
  for (std::uint32_t bits = 0; bits + 1 < patterns(format) / 2; ++bits) {
    const auto low = decode(format, static_cast<std::uint16_t>(bits));
    const auto high = decode(format, static_cast<std::uint16_t>(bits + 1));
    if (!std::isfinite(high)) break;
    // The middle is exact in f32: it needs only one more bit.
    const float middle = low + (high - low) / 2;
    const auto even = bits % 2 == 0 ? bits : bits + 1;
    REQUIRE(encode(format, middle) == even);
    REQUIRE(encode(format, std::nextafter(middle, 0.0F)) == bits);
    REQUIRE(encode(format, std::nextafter(middle, infinity)) == bits + 1);
    REQUIRE(encode(format, -middle) == (even | patterns(format) / 2));
  }
}

TEST_CASE("beyond the largest value, f16 and bf16 overflow and fp8 saturates") {
  CHECK(encode(f16_format, 65519.0F) == 0x7bff);
  CHECK(encode(f16_format, 65520.0F) == 0x7c00);
  CHECK(encode(bf16_format, std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(encode(e4m3_format, 1e9F) == 0x7e);
  CHECK(encode(e4m3_format, 464.0F) == 0x7e);
  CHECK(encode(e4m3_format, -infinity) == 0xfe);
  CHECK(encode(e5m2_format, 1e9F) == 0x7b);
  CHECK(encode(e5m2_format, infinity) == 0x7b);
  for (const auto& format : {f16_format, bf16_format, e4m3_format, e5m2_format}) {
    CHECK(std::isnan(decode(format, encode(format, std::numeric_limits<float>::quiet_NaN()))));
  }
}

TEST_CASE("tf32 keeps ten mantissa bits and rounds ties to even") {
  CHECK(round_to_tf32(0x3f800000) == 0x3f800000);
  CHECK(round_to_tf32(0x3f800fff) == 0x3f800000);
  CHECK(round_to_tf32(0x3f801000) == 0x3f800000);
  CHECK(round_to_tf32(0x3f803000) == 0x3f804000);
  CHECK(round_to_tf32(0xbf801000) == 0xbf800000);
  CHECK(round_to_tf32(0x7f7fffff) == 0x7f800000);
  CHECK(round_to_tf32(0x7f800000) == 0x7f800000);
  CHECK(round_to_tf32(0x7fc00001) == 0x7fc00001);
}
