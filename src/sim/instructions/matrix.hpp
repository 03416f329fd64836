#pragma once

/// Elements of matrices, and products of rows and columns. Products and sums are exact or in f64, and a
/// result is rounded once; the ISA specifies neither the order of a sum nor its intermediate precision.
#include "sim/arithmetic/numeric.hpp"
#include "sim/decode/decode.hpp"

#include <bit>
#include <cstdint>

TMAJIT_BEGIN
namespace sim {

/// The shape of a product: a has m rows and k columns, b has k rows and n columns.
struct MatrixShape {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
};

/// The number of elements of `type` in a register of 32 bits (64 for f64).
[[nodiscard]] constexpr std::uint32_t per_register(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
    case ScalarType::bf16: return 2;
    case ScalarType::u8:
    case ScalarType::s8:
    case ScalarType::e4m3:
    case ScalarType::e5m2: return 4;
    case ScalarType::u4:
    case ScalarType::s4: return 8;
    case ScalarType::b1: return 32;
    default: return 1;
  }
}

/// The value of element `i` of a register. It is exact: f64 represents all values of these types.
template <ScalarType type>
[[nodiscard]] double element(std::uint64_t bits, std::uint32_t i) {
  const auto word = static_cast<std::uint32_t>(bits);
  if constexpr (type == ScalarType::f16) return decode_small<f16_format>(word >> 16 * i & 0xffff);
  if constexpr (type == ScalarType::bf16) return decode_small<bf16_format>(word >> 16 * i & 0xffff);
  if constexpr (type == ScalarType::e4m3) return decode_small<e4m3_format>(word >> 8 * i & 0xff);
  if constexpr (type == ScalarType::e5m2) return decode_small<e5m2_format>(word >> 8 * i & 0xff);
  if constexpr (type == ScalarType::u8) return static_cast<std::uint8_t>(word >> 8 * i);
  if constexpr (type == ScalarType::s8) return static_cast<std::int8_t>(word >> 8 * i);
  if constexpr (type == ScalarType::u4) return word >> 4 * i & 15;
  if constexpr (type == ScalarType::s4) return static_cast<std::int32_t>(word << (28 - 4 * i)) >> 28;
  if constexpr (type == ScalarType::b1) return word >> i & 1;
  if constexpr (type == ScalarType::s32) return static_cast<std::int32_t>(word);
  if constexpr (type == ScalarType::f32) return std::bit_cast<float>(word);
  // A .tf32 operand has 10 bits of mantissa; the 13 bits below are ignored.
  if constexpr (type == ScalarType::tf32) return std::bit_cast<float>(word & ~0x1fffU);
  return std::bit_cast<double>(bits);
}

/// c plus the dot product of `count` integers. With `differ`, the elements are bits, and the number of pairs
/// that differ replaces the dot product. The result wraps to 32 bits, or with `saturates` is clamped.
[[nodiscard]] inline std::int32_t multiply_integers(const double* a, const double* b, std::uint32_t count,
                                                    std::int32_t c, bool saturates, bool differ = false) {
  std::int64_t sum = c;
  for (std::uint32_t k = 0; k < count; ++k)
    sum += static_cast<std::int64_t>(differ ? std::fabs(a[k] - b[k]) : a[k] * b[k]);
  using Limits = std::numeric_limits<std::int32_t>;
  if (saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
}
/// c plus the dot product of `count` floats, in f64. With `fused`, each multiply-add is rounded once, as the
/// ISA defines products of f64.
template <bool fused>
[[nodiscard]] double multiply_floats(const double* a, const double* b, std::uint32_t count, double c) {
  for (std::uint32_t k = 0; k < count; ++k) c = fused ? std::fma(a[k], b[k], c) : c + a[k] * b[k];
  return c;
}

}  // namespace sim
TMAJIT_END
