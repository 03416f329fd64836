#include "reference/random_elements.hpp"

#include "numbers/small_float.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace reference {

using namespace numbers;
namespace {

using tmajit::ElementType;

constexpr std::uint64_t word = sizeof(std::uint64_t);
constexpr std::uint64_t period_bytes = 1021ULL * 4096;  // a prime number of pages

SmallFloat format_of(ElementType type) {
  switch (type) {
    case ElementType::e4m3: return e4m3_format;
    case ElementType::e5m2: return e5m2_format;
    case ElementType::f16: return f16_format;
    case ElementType::bf16: return bf16_format;
    case ElementType::f64: return {11, 52, true, false};
    default: return {8, 23, true, false};
  }
}

/// Makes a float from random bits. Its exponent is that of 1, or up to 15 less.
std::uint64_t as_float(std::uint64_t bits, const SmallFloat& format) {
  const std::uint64_t bias = (std::uint64_t{1} << (format.exponent_bits - 1)) - 1;
  const std::uint64_t exponent = bias - std::min<std::uint64_t>(bits & 15U, bias);
  const std::uint64_t sign = bits >> (format.exponent_bits + format.mantissa_bits) & 1U;
  const std::uint64_t mantissa = (bits >> 4U) & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  return (((sign << format.exponent_bits) | exponent) << format.mantissa_bits) | mantissa;
}

}  // namespace

void RandomElements::fill(std::span<std::byte> elements) {
  const bool floats = tmajit::is_float(type_);
  const auto width = static_cast<unsigned>(8 * tmajit::size_of(type_));
  const SmallFloat format = format_of(type_);
  for (std::size_t at = 0; at < elements.size(); at += word) {
    std::uint64_t bits = random_();
    if (floats) {
      // Each random number makes as many floats as fit in it.
      const std::uint64_t numbers = std::exchange(bits, 0);
      for (unsigned shift = 0; shift < 8 * word; shift += width)
        bits |= as_float(numbers >> shift, format) << shift;
    }
    // Little-endian, like every host of a GPU.
    std::memcpy(elements.data() + at, &bits, std::min<std::size_t>(word, elements.size() - at));
  }
}

// The buffer has one more word, so that an element at the end of the period is contiguous.
Pattern::Pattern(tmajit::ElementType type, std::uint64_t seed) : bytes_(period_bytes + word) {
  RandomElements(type, seed).fill(std::span(bytes_).first(period_bytes));
  std::copy_n(bytes_.begin(), word, bytes_.begin() + period_bytes);
}

std::span<const std::byte> Pattern::period() const {
  return std::span(bytes_).first(period_bytes);
}

const std::byte* Pattern::at(std::uint64_t offset) const {
  return &bytes_[offset % period_bytes];
}

}  // namespace reference
