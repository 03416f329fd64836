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

/// A float's fields.
struct Format {
  std::uint32_t exponent_bits;
  std::uint32_t mantissa_bits;
  [[nodiscard]] std::uint64_t sign() const { return 1ULL << (exponent_bits + mantissa_bits); }
  [[nodiscard]] std::uint64_t hidden() const { return 1ULL << mantissa_bits; }
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

std::uint64_t integer(Random& random, std::uint32_t bits) {
  const std::uint64_t all = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
  switch (between(random, 0, 3)) {
    case 0: return random() & all;
    case 1: return between(random, 0, 4);
    case 2: return all - between(random, 0, 4);
    default:
      return (all / 2 + between(random, 0, 4) - 2) & all;  // around the smallest number with the sign bit
  }
}

std::uint64_t number(Random& random, const Format& f, std::uint64_t exponents) {
  const std::uint64_t exponent = between(random, 0, exponents) - exponents / 2;
  return f.one() + exponent * f.hidden() + (random() & (f.hidden() - 1));
}

std::uint64_t floating(Random& random, const Format& f, Values values) {
  const std::uint64_t sign = one_in(random, 2) ? f.sign() : 0;
  switch (values) {
    // Few mantissa bits, so that sums are exact and not subnormal.
    case Values::numbers: return sign | (number(random, f, 2) & ~(f.hidden() / 16 - 1));
    case Values::rounded: return sign | number(random, f, f.exponent_bits == 5 ? 8 : 24);
    case Values::subnormals:
      return sign | one_of(random, std::array<std::uint64_t, 6>{0, 1, f.hidden() - 1, f.hidden(),
                                                                f.hidden() + 1, random() & (f.hidden() - 1)});
    case Values::zeros: return sign | (one_in(random, 3) ? f.one() : 0);
    case Values::infinities:
      return sign | one_of(random, std::array<std::uint64_t, 4>{f.infinity(), f.infinity(), f.infinity() - 1,
                                                                f.one()});
    default:
      return sign | one_of(random,
                           std::array<std::uint64_t, 5>{
                               f.infinity() + 1, f.infinity() + f.hidden() / 2, f.infinity() + f.hidden() - 1,
                               f.one(), f.infinity() + 1 + (random() & (f.hidden() / 2 - 1))});
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
    const std::uint64_t bits = is_float(type) ? floating(random, format_of(type), values)
                                              : integer(random, static_cast<std::uint32_t>(8 * size));
    std::memcpy(bytes.data() + i * size, &bits, size);  // little-endian, as the device is
  }
  return bytes;
}

}  // namespace conformance
