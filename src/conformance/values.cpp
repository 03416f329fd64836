#include "conformance/values.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <span>

namespace conformance {

using reference::between;
using reference::one_in;
using reference::one_of;
using reference::Random;
using tmajit::ElementType;

namespace {

/// The widths of a float's fields, and the bit patterns of special values.
struct Format {
  std::uint32_t exponent_bits;
  std::uint32_t mantissa_bits;
  [[nodiscard]] std::uint64_t sign() const { return 1ULL << (exponent_bits + mantissa_bits); }
  [[nodiscard]] std::uint64_t least_normal() const { return 1ULL << mantissa_bits; }
  [[nodiscard]] std::uint64_t infinity() const { return ((1ULL << exponent_bits) - 1) << mantissa_bits; }
  [[nodiscard]] std::uint64_t one() const { return ((1ULL << (exponent_bits - 1)) - 1) << mantissa_bits; }
};

Format format_of(ElementType type) {
  switch (type) {
    case ElementType::f16: return {5, 10};
    case ElementType::bf16: return {8, 7};
    case ElementType::f32: return {8, 23};
    default: return {11, 52};
  }
}

std::uint64_t random_integer(Random& random, std::uint32_t bits) {
  const std::uint64_t all = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
  switch (between(random, 0, 3)) {
    case 0: return random() & all;
    case 1: return between(random, 0, 4);
    case 2: return all - between(random, 0, 4);
    default:
      return (all / 2 + between(random, 0, 4) - 2) & all;  // around the smallest number with the sign bit
  }
}

/// A positive number whose exponent differs from that of 1 by at most `exponents` / 2.
std::uint64_t random_number(Random& random, const Format& format, std::uint64_t exponents) {
  const std::uint64_t exponent = between(random, 0, exponents) - exponents / 2;
  return format.one() + exponent * format.least_normal() + (random() & (format.least_normal() - 1));
}

std::uint64_t random_float(Random& random, const Format& format, Values values) {
  const std::uint64_t sign = one_in(random, 2) ? format.sign() : 0;
  switch (values) {
    // Few mantissa bits, so that sums are exact and not subnormal.
    case Values::numbers:
      return sign | (random_number(random, format, 2) & ~(format.least_normal() / 16 - 1));
    case Values::rounded: return sign | random_number(random, format, format.exponent_bits == 5 ? 8 : 24);
    case Values::subnormals:
      return sign | one_of(random, std::array<std::uint64_t, 6>{
                                       0, 1, format.least_normal() - 1, format.least_normal(),
                                       format.least_normal() + 1, random() & (format.least_normal() - 1)});
    case Values::zeros: return sign | (one_in(random, 3) ? format.one() : 0);
    case Values::infinities:
      return sign | one_of(random, std::array<std::uint64_t, 4>{format.infinity(), format.infinity(),
                                                                format.infinity() - 1, format.one()});
    default:
      return sign | one_of(random, std::array<std::uint64_t, 5>{
                                       format.infinity() + 1, format.infinity() + format.least_normal() / 2,
                                       format.infinity() + format.least_normal() - 1, format.one(),
                                       format.infinity() + 1 + (random() & (format.least_normal() / 2 - 1))});
  }
}

}  // namespace

std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

std::vector<std::byte> random_values(Random& random, ElementType type, Values values, std::size_t count) {
  const std::size_t size = size_of(type);
  std::vector<std::byte> bytes(count * size);
  if (values == Values::bits) return random_bytes(random, bytes.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = is_float(type) ? random_float(random, format_of(type), values)
                                              : random_integer(random, static_cast<std::uint32_t>(8 * size));
    std::memcpy(bytes.data() + i * size, &bits, size);  // little-endian, as the device is
  }
  return bytes;
}

}  // namespace conformance
