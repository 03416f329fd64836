/// Data of benchmarks and checks: random elements, the pattern that repeats them, and the host's arithmetic.
#include "reference/random_elements.hpp"
#include "reference/scalar.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace reference;
using tmajit::ElementType;

namespace {

std::vector<std::byte> elements(ElementType type, std::uint64_t seed, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  RandomElements(type, seed).fill(result);
  return result;
}

}  // namespace

TEST_CASE("random floats are finite, below 2 and no smaller than a cast can hold") {
  for (const ElementType type : tmajit::all_element_types) {
    if (!tmajit::is_float(type)) continue;
    CAPTURE(tmajit::name(type));
    const std::vector<std::byte> data = elements(type, 3, 4096);
    for (std::size_t at = 0; at < data.size(); at += tmajit::size_of(type)) {
      const double value = std::visit([](auto v) { return static_cast<double>(v); }, decode(type, &data[at]));
      REQUIRE(std::fabs(value) < 2);
      const bool wide = tmajit::size_of(type) > 1 && type != ElementType::f16;
      if (wide) REQUIRE(std::fabs(value) >= std::ldexp(1.0, -16));
    }
  }
}

TEST_CASE("random elements depend on the seed alone, not on the chunks in which they are generated") {
  const std::vector<std::byte> whole = elements(ElementType::bf16, 5, 4096);
  CHECK(whole == elements(ElementType::bf16, 5, 4096));
  CHECK(whole != elements(ElementType::bf16, 6, 4096));
  std::vector<std::byte> pieces(4096);
  RandomElements random(ElementType::bf16, 5);
  random.fill(std::span(pieces).first(1024));
  random.fill(std::span(pieces).subspan(1024));
  CHECK(whole == pieces);
}

TEST_CASE("the pattern repeats after its period") {
  const Pattern pattern(ElementType::f64, 1);
  const std::uint64_t period = pattern.period().size();
  CHECK(pattern.at(8) == &pattern.period()[8]);
  CHECK(pattern.at(period + 8) == pattern.at(8));
  CHECK(std::memcmp(pattern.at(period - 4) + 4, pattern.at(0), 4) == 0);  // contiguous across its end
}

TEST_CASE("integers wrap around, and products and sums have C++'s common type") {
  constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
  CHECK(multiply(largest, 2) == Scalar(-2));
  CHECK(add(largest, 1) == Scalar(std::numeric_limits<std::int32_t>::min()));
  CHECK(multiply(std::uint8_t{200}, std::uint8_t{2}) == Scalar(400));
  CHECK(multiply(std::uint64_t{1} << 63, 2) == Scalar(std::uint64_t{0}));
  CHECK(multiply(1.5F, 3) == Scalar(4.5F));
}

TEST_CASE("an element's bits are printed in hexadecimal, as many digits as its type has") {
  const float one = 1;
  CHECK(bits_text(ElementType::f32, reinterpret_cast<const std::byte*>(&one)) == "0x3f800000");
  const std::uint8_t small = 5;
  CHECK(bits_text(ElementType::u8, reinterpret_cast<const std::byte*>(&small)) == "0x05");
}
