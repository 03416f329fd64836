/// Compares conversions with the host's own, in each rounding mode.
#include "reference/conversion.hpp"

#include "numbers/small_float.hpp"
#include "reference/random.hpp"
#include "seed.hpp"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>

#include <catch2/catch_test_macros.hpp>

using reference::Conversion;
using Rounding = Conversion::Rounding;
using tmajit::ElementType;

namespace {

/// Returns a random number: with any exponent, or close to a number that a narrower type can represent.
double number(reference::Random& random) {
  const auto exponent = static_cast<int>(reference::between(random, 0, 320)) - 160;
  const auto digits = static_cast<int>(reference::between(random, 0, 52));
  const std::uint64_t mantissa = random() >> 12 >> digits << digits;
  const double value = std::ldexp(1 + static_cast<double>(mantissa) * 0x1p-52, exponent);
  return reference::one_in(random, 2) ? -value : value;
}

/// Returns work(), executed in this rounding mode of the host.
template <class Work>
auto rounding(int mode, const Work& work) {
  std::fesetround(mode);
  const volatile auto result = work();  // volatile: must be computed before the mode is restored
  std::fesetround(FE_TONEAREST);
  return result;
}

double to_integral(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero: return std::trunc(value);
    case Rounding::down: return std::floor(value);
    case Rounding::up: return std::ceil(value);
    default: return std::nearbyint(value);
  }
}

}  // namespace

TEST_CASE("conversions round as the host does") {
  INFO("TMAJIT_SEED=" << tests::seed(20261123));
  reference::Random random(tests::seed(20261123));
  constexpr std::pair<Rounding, int> modes[] = {{Rounding::nearest, FE_TONEAREST},
                                                {Rounding::zero, FE_TOWARDZERO},
                                                {Rounding::down, FE_DOWNWARD},
                                                {Rounding::up, FE_UPWARD}};
  for (int i = 0; i < 20'000; ++i) {
    volatile double value = number(random);
    const auto bits = std::bit_cast<std::uint64_t>(double{value});
    volatile auto whole = static_cast<std::int64_t>(random() >> reference::between(random, 0, 63));
    for (const auto& [how, mode] : modes) {
      INFO("value " << value << ", whole " << whole << ", mode " << mode);
      const auto narrow =
          rounding(mode, [&] { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); });
      CHECK(convert({.to = ElementType::f32, .from = ElementType::f64, .rounding = how}, bits) == narrow);
      const auto of_whole =
          rounding(mode, [&] { return std::bit_cast<std::uint32_t>(static_cast<float>(whole)); });
      CHECK(convert({.to = ElementType::f32, .from = ElementType::i64, .rounding = how},
                    static_cast<std::uint64_t>(whole)) == of_whole);
      const double integral = to_integral(value, how);
      CHECK(convert({.to = ElementType::f64, .from = ElementType::f64, .rounding = how, .to_integral = true},
                    bits) == std::bit_cast<std::uint64_t>(integral));
      if (std::fabs(value) > 0x1p31 - 1) continue;
      CHECK(convert({.to = ElementType::i32, .from = ElementType::f64, .rounding = how, .to_integral = true},
                    bits) == static_cast<std::uint32_t>(static_cast<std::int32_t>(integral)));
    }
    const auto half = encode(numbers::f16_format, value);
    CHECK(convert({.to = ElementType::f16, .from = ElementType::f64, .rounding = Rounding::nearest}, bits) ==
          half);
    const auto tiny = encode(numbers::e4m3_format, value);
    CHECK(convert({.to = ElementType::e4m3, .from = ElementType::f64, .rounding = Rounding::nearest}, bits) ==
          tiny);
  }
}

TEST_CASE("conversions saturate, flush, stay finite and rectify as their flags say") {
  const auto of = [](float value) { return std::uint64_t{std::bit_cast<std::uint32_t>(value)}; };
  const auto to_f32 = [&](Conversion how, float value) {
    how.to = how.from = ElementType::f32;
    return convert(how, of(value));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(to_f32({.saturates = true}, 1.5F) == of(1));
  CHECK(to_f32({.saturates = true}, -0.0F) == 0);
  CHECK(to_f32({.saturates = true}, nan) == 0);
  CHECK(to_f32({.flushes = true}, -1e-40F) == of(-0.0F));
  const Conversion half{.to = ElementType::f16, .from = ElementType::f32, .rounding = Rounding::nearest};
  Conversion finite = half;
  finite.ends_finite = true;
  Conversion rectified = half;
  rectified.rectifies = true;
  CHECK(convert(half, of(1e6F)) == 0x7c00);
  CHECK(convert(finite, of(-HUGE_VALF)) == 0xfbff);
  CHECK(convert(finite, of(nan)) == 0x7fff);
  CHECK(convert(rectified, of(-1)) == 0);
  const auto to_integer = [&](ElementType to, bool saturates) {
    return Conversion{.to = to, .from = ElementType::i32, .saturates = saturates};
  };
  CHECK(convert(to_integer(ElementType::u8, false), 0xfffffffeU) == 0xfe);
  CHECK(convert(to_integer(ElementType::u8, true), 0xfffffffeU) == 0);
  CHECK(convert(to_integer(ElementType::i64, false), 0xfffffffeU) == ~std::uint64_t{1});
  // A NaN: PTX ISA 9.7.9.22.
  for (const ElementType to : {ElementType::u32, ElementType::i64, ElementType::u64}) {
    const Conversion how{.to = to, .from = ElementType::f32, .rounding = Rounding::zero, .to_integral = true};
    CHECK(convert(how, of(nan)) == (size_of(to) == 8 ? 1ULL << 63 : 0));
  }
}
