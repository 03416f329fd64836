#include "reference/scalar.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <catch2/catch_test_macros.hpp>

using namespace reference;
using tmajit::ElementType;

namespace {

/// The result of converting `value` to `type`.
template <typename T>
T converted(ElementType type, const Scalar& value) {
  std::array<std::byte, 8> bytes{};
  encode(type, value, bytes.data());
  return std::get<T>(decode(type, bytes.data()));
}

std::uint32_t loaded(ElementType type, std::uint32_t bits) {
  std::array<std::byte, 4> bytes{};
  std::memcpy(bytes.data(), &bits, 4);
  convert_on_load(type, bytes.data());
  std::memcpy(&bits, bytes.data(), 4);
  return bits;
}

}  // namespace

TEST_CASE("integers that are converted to narrower integers wrap") {
  CHECK(converted<std::uint8_t>(ElementType::u8, scalar(256 + 7)) == 7);
  CHECK(converted<std::int8_t>(ElementType::i8, scalar(128)) == -128);
  CHECK(converted<std::uint64_t>(ElementType::u64, scalar(-1)) == std::numeric_limits<std::uint64_t>::max());
  CHECK(converted<std::int32_t>(ElementType::i32, scalar(true)) == 1);
}

TEST_CASE("floats that are converted to integers are truncated and saturate, and NaN gives 0") {
  CHECK(converted<std::int32_t>(ElementType::i32, -1.9F) == -1);
  CHECK(converted<std::uint8_t>(ElementType::u8, 255.9F) == 255);
  CHECK(converted<std::uint8_t>(ElementType::u8, 300.0F) == 255);
  CHECK(converted<std::uint8_t>(ElementType::u8, -0.9F) == 0);
  CHECK(converted<std::uint8_t>(ElementType::u8, -5.0F) == 0);
  CHECK(converted<std::int8_t>(ElementType::i8, -1e30F) == -128);
  CHECK(converted<std::int64_t>(ElementType::i64, 1e30) == std::numeric_limits<std::int64_t>::max());
  CHECK(converted<std::uint64_t>(ElementType::u64, std::numeric_limits<float>::infinity()) ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK(converted<std::int32_t>(ElementType::i32, std::nan("")) == 0);
}

TEST_CASE("conversions to floats round to nearest even") {
  CHECK(converted<float>(ElementType::f32, scalar((1 << 24) + 1)) == 16777216.0F);
  CHECK(converted<float>(ElementType::f32, scalar((1 << 24) + 3)) == 16777220.0F);
  CHECK(converted<float>(ElementType::f16, scalar(2049)) == 2048.0F);
  CHECK(converted<float>(ElementType::e4m3, 1000) == 448.0F);
  CHECK(converted<double>(ElementType::f64, 0.1F) == static_cast<double>(0.1F));
}

TEST_CASE("f64 is converted to f16 through f32, and so rounded twice") {
  // Just above the middle of two f16 values; the difference is lost in f32.
  CHECK(converted<float>(ElementType::f16, 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40)) == 1.0F);
}

TEST_CASE("maps of tf32 round on load, and maps of other types change nothing") {
  CHECK(loaded(ElementType::f32, 0x00000001) == 0x00000001);
  CHECK(loaded(ElementType::f32_ftz, 0x007fffff) == 0x007fffff);
  for (const ElementType type : {ElementType::tf32, ElementType::tf32_ftz}) {
    CHECK(loaded(type, 0x3f801001) == 0x3f802000);
    CHECK(loaded(type, 0x00400000) == 0x00400000);
    CHECK(loaded(type, 0xffc00001) == 0x7fffe000);
  }
}

TEST_CASE("NaNs with different bits are the same value, zeros with different signs are not") {
  const std::array a{std::byte{0x00}, std::byte{0x7e}};
  const std::array b{std::byte{0xff}, std::byte{0x7f}};
  CHECK(same_value(ElementType::f16, a.data(), b.data()));
  CHECK_FALSE(same_value(ElementType::u16, a.data(), b.data()));
  const std::array zero{std::byte{0}, std::byte{0}};
  const std::array negative_zero{std::byte{0}, std::byte{0x80}};
  CHECK_FALSE(same_value(ElementType::f16, zero.data(), negative_zero.data()));
}

TEST_CASE("sums wrap as on the device") {
  CHECK(reference::add(std::int32_t{0x7fffffff}, std::int32_t{1}) == Scalar{std::int32_t{-0x7fffffff - 1}});
  CHECK(reference::add(std::uint8_t{200}, std::uint8_t{100}) == Scalar{std::int32_t{300}});
  CHECK(reference::add(std::int64_t{-1}, std::uint64_t{1}) == Scalar{std::uint64_t{0}});
  CHECK(reference::add(1.5F, std::int32_t{1}) == Scalar{2.5F});
}
