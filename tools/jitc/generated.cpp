#include "generated.hpp"

#include "terminal.hpp"

#include <algorithm>
#include <cstring>
#include <random>

namespace jitc {
namespace {

using tmajit::ElementType;

struct FloatFormat {
  std::uint32_t exponent_bits;
  std::uint32_t mantissa_bits;
};

FloatFormat format_of(ElementType type) {
  switch (type) {
    case ElementType::e4m3: return {4, 3};
    case ElementType::e5m2: return {5, 2};
    case ElementType::f16: return {5, 10};
    case ElementType::bf16: return {8, 7};
    case ElementType::f64: return {11, 52};
    default: return {8, 23};
  }
}

/// Random bits as a float: its exponent is at most that of 1, and at most 15 less, so that a cast to a
/// narrower type keeps something of most values.
std::uint64_t as_float(std::uint64_t bits, const FloatFormat& format) {
  const std::uint64_t bias = (std::uint64_t{1} << (format.exponent_bits - 1)) - 1;
  const std::uint64_t exponent = bias - std::min<std::uint64_t>(bits & 15U, bias);
  const std::uint64_t sign = bits >> 63U;
  const std::uint64_t mantissa = (bits >> 4U) & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  return (((sign << format.exponent_bits) | exponent) << format.mantissa_bits) | mantissa;
}

}  // namespace

void generate_elements(std::span<std::byte> array, ElementType type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Progress progress("generating elements", array.size());
  const std::size_t size = tmajit::is_float(type) ? tmajit::size_of(type) : sizeof(std::uint64_t);
  const auto format = format_of(type);
  constexpr std::size_t piece = std::size_t{1} << 20U;
  for (std::size_t begin = 0; begin < array.size(); begin += piece) {
    const std::size_t end = std::min(begin + piece, array.size());
    for (std::size_t at = begin; at < end; at += size) {
      const std::uint64_t bits = tmajit::is_float(type) ? as_float(random(), format) : random();
      std::memcpy(array.data() + at, &bits,
                  std::min(size, end - at));  // little-endian, as every host of a GPU
    }
    progress.advance(end - begin);
  }
}

}  // namespace jitc
