#pragma once

/// The elements of matrices, whose products and sums are exact or in f64, and a result is rounded once: the
/// ISA fixes neither the order of a sum nor its intermediate precision.
#include "sim/decode.hpp"
#include "sim/numeric.hpp"

#include <bit>
#include <cstdint>

TMAJIT_BEGIN
namespace sim {

/// Elements of `type` in a register of 32 bits (of 64 for f64).
[[nodiscard]] constexpr std::uint32_t per_register(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
    case ScalarType::bf16: return 2;
    case ScalarType::u8:
    case ScalarType::s8:
    case ScalarType::e4m3:
    case ScalarType::e5m2: return 4;
    default: return 1;
  }
}

/// Element `i` of a register as a number: exact, as every type's values are f64 values.
template <ScalarType type>
[[nodiscard]] double element(std::uint64_t bits, std::uint32_t i) {
  const auto word = static_cast<std::uint32_t>(bits);
  if constexpr (type == ScalarType::f16) return decode_small<f16_format>(word >> 16 * i & 0xffff);
  if constexpr (type == ScalarType::bf16) return decode_small<bf16_format>(word >> 16 * i & 0xffff);
  if constexpr (type == ScalarType::e4m3) return decode_small<e4m3_format>(word >> 8 * i & 0xff);
  if constexpr (type == ScalarType::e5m2) return decode_small<e5m2_format>(word >> 8 * i & 0xff);
  if constexpr (type == ScalarType::u8) return static_cast<std::uint8_t>(word >> 8 * i);
  if constexpr (type == ScalarType::s8) return static_cast<std::int8_t>(word >> 8 * i);
  // A .tf32 operand has 10 bits of mantissa; the 13 below are none of it.
  if constexpr (type == ScalarType::tf32) return std::bit_cast<float>(word & ~0x1fffU);
  return std::bit_cast<double>(bits);
}

}  // namespace sim
TMAJIT_END
