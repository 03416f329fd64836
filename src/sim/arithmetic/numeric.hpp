#pragma once

/// Arithmetic of the PTX ISA that differs from the host's: narrow floats, conversions, NaNs.
#include "ptx/ast.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

TMAJIT_BEGIN
namespace sim {

/// A floating-point format of at most 16 bits.
struct SmallFormat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< if false, the format has a single NaN, the largest bit pattern (e4m3)
  /// The bits of the largest finite value.
  [[nodiscard]] constexpr std::uint32_t largest() const {
    const std::uint32_t top = ((1U << exponent_bits) - 1) << mantissa_bits;
    return has_infinity ? top - 1 : (top | ((1U << mantissa_bits) - 1)) - 1;
  }
};
inline constexpr SmallFormat f16_format{5, 10, true};
inline constexpr SmallFormat bf16_format{8, 7, true};
inline constexpr SmallFormat e4m3_format{4, 3, false};
inline constexpr SmallFormat e5m2_format{5, 2, true};

enum class Round : std::uint8_t { nearest, zero, down, up };

/// Rounds to an integral value.
template <typename T>
[[nodiscard]] T round_integral(T value, Round round) {
  switch (round) {
    case Round::zero: return std::trunc(value);
    case Round::down: return std::floor(value);
    case Round::up: return std::ceil(value);
    default: return std::nearbyint(value);  // the host rounds to nearest even
  }
}

/// 2^exponent, for exponents -1022 … 1023.
[[nodiscard]] constexpr double power_of_two(int exponent) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Encodes `value` in the format. A value out of range becomes infinity; with `saturate`, or in a format
/// without infinity, it becomes the largest finite value.
template <SmallFormat format>
[[nodiscard]] std::uint16_t encode_small(double value, bool saturate, Round round = Round::nearest) {
  constexpr int mantissa_bits = format.mantissa_bits;
  constexpr int least = 2 - (1 << (format.exponent_bits - 1));  // exponent of the smallest normal value
  constexpr std::uint32_t sign_bit = 1U << (format.exponent_bits + mantissa_bits);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign_bit - 1);
  const std::uint32_t sign = std::signbit(value) ? sign_bit : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  if (round == Round::down)
    round = sign != 0 ? Round::up : Round::zero;
  else if (round == Round::up && sign != 0)
    round = Round::zero;
  std::uint32_t bits = format.largest() + 1;
  if (!std::isinf(magnitude)) {
    const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(magnitude) >> 52) - 1023;
    const int quantum = std::max(exponent, least) - mantissa_bits;
    if (quantum < 1 << format.exponent_bits) {
      const auto steps =
          static_cast<std::uint32_t>(round_integral(magnitude * power_of_two(-quantum), round));
      // A carry out of the mantissa increments the exponent.
      bits = steps < 1U << mantissa_bits
                 ? steps
                 : (static_cast<std::uint32_t>(quantum + mantissa_bits - least + 1) << mantissa_bits) +
                       steps - (1U << mantissa_bits);
    }
    if (bits > format.largest() && round == Round::zero) bits = format.largest();
  }
  if (bits > format.largest())
    bits = saturate || !format.has_infinity ? format.largest() : format.largest() + 1;
  return static_cast<std::uint16_t>(sign | bits);
}

/// Decodes a value of the format exactly.
template <SmallFormat format>
[[nodiscard]] float decode_small(std::uint32_t bits) {
  constexpr int mantissa_bits = format.mantissa_bits;
  constexpr int bias = (1 << (format.exponent_bits - 1)) - 1;
  constexpr std::uint32_t sign_bit = 1U << (format.exponent_bits + mantissa_bits);
  const std::uint32_t magnitude = bits & (sign_bit - 1);
  const std::uint32_t exponent = magnitude >> mantissa_bits;
  const std::uint32_t mantissa = magnitude & ((1U << mantissa_bits) - 1);
  float value = 0;
  if (magnitude > format.largest()) {
    // The hardware's NaN is positive.
    if (!format.has_infinity || mantissa != 0) return std::bit_cast<float>(0x7fffffffU);
    value = std::numeric_limits<float>::infinity();
  } else if (exponent == 0) {
    value = static_cast<float>(mantissa * power_of_two(1 - bias - mantissa_bits));
  } else {
    value = std::bit_cast<float>((exponent + static_cast<std::uint32_t>(127 - bias)) << 23 |
                                 mantissa << (23 - mantissa_bits));
  }
  return (bits & sign_bit) != 0 ? -value : value;
}

/// The only NaN that tf32 conversions return (docs/tma.md). Its low 13 bits are 0, as in every tf32 value.
inline constexpr std::uint32_t tf32_nan = 0x7fffe000;

/// Rounds the bits of an f32 to 10 mantissa bits, to nearest. Ties round to even, or with `away` away from
/// zero.
[[nodiscard]] inline std::uint32_t to_tf32(std::uint32_t bits, bool away) {
  if ((bits & 0x7fffffff) > 0x7f800000) return tf32_nan;
  if ((bits & 0x7f800000) == 0x7f800000) return bits;
  return (bits + (away ? 0x1000 : 0xfff + (bits >> 13 & 1))) & ~0x1fffU;
}

/// Replaces an f32 NaN by the canonical NaN, which f32 instructions return. f64 NaNs are unchanged.
[[nodiscard]] inline float canonical(float value) {
  return value != value ? std::bit_cast<float>(0x7fffffffU) : value;
}
[[nodiscard]] inline double canonical(double value) {
  return value;
}
/// Replaces a subnormal f32 by zero of the same sign.
[[nodiscard]] inline float flush(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x7f800000) == 0 ? std::bit_cast<float>(bits & 0x80000000) : value;
}

/// a + b, rounded to odd: the last bit is set if the sum is inexact. Rounding this result to a narrower
/// format gives the same as rounding the exact sum.
[[nodiscard]] inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double high = sum - a;
  const double error = (a - (sum - high)) + (b - high);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || !std::isfinite(sum) || (bits & 1) != 0) return sum;
  bits += (error > 0) == (sum > 0) ? 1ULL : ~0ULL;
  return std::bit_cast<double>(bits);
}

template <typename T>
[[nodiscard]] constexpr bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

/// min or max of floats. If one operand is NaN, the result is the other one. −0 is less than +0.
template <bool greatest, typename T>
[[nodiscard]] T float_extreme(T a, T b) {
  if (is_nan(a)) return canonical(b);
  if (is_nan(b)) return a;
  if (a == b) return std::signbit(a) != greatest ? a : b;
  return (a < b) != greatest ? a : b;
}

/// Converts a float to an integer: rounds and saturates. If From or To has 64 bits, NaN becomes an integer of
/// which only the highest bit is set; else 0 (PTX ISA 9.7.9.22, "cvt").
template <typename To, typename From>
[[nodiscard]] To to_integer(From value, Round round) {
  if (is_nan(value)) {
    if constexpr (sizeof(To) < 8 && sizeof(From) < 8) return 0;
    return static_cast<To>(std::make_unsigned_t<To>{1} << (8 * sizeof(To) - 1));
  }
  const From integral = round_integral(value, round);
  // If From has too few mantissa bits, the upper bound rounds up to a power of two, hence >=.
  if (integral >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  if (integral <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(integral);
}

/// The upper half of the bits of a · b.
template <typename T>
[[nodiscard]] constexpr T multiply_high(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    __extension__ using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
  }
}

/// The operations of atomics and reductions (PTX ISA 9.7.13, "atom", "red", "red.async", "redux").
enum class Atomic : std::uint8_t { add, min, max, and_, or_, xor_, exch, cas, inc, dec };

/// The operation that the instruction names.
[[nodiscard]] inline std::optional<Atomic> atomic_of(const ptx::Instruction& instruction) {
  constexpr std::pair<const char*, Atomic> names[] = {
      {"add", Atomic::add}, {"min", Atomic::min},  {"max", Atomic::max},   {"and", Atomic::and_},
      {"or", Atomic::or_},  {"xor", Atomic::xor_}, {"exch", Atomic::exch}, {"cas", Atomic::cas},
      {"inc", Atomic::inc}, {"dec", Atomic::dec}};
  for (const auto& [name, value] : names) {
    if (instruction.has(name)) return value;
  }
  return std::nullopt;
}

/// The new value of a word with value `old`. cas compares `old` with `a`, and stores `b` if they are equal.
template <typename T>
[[nodiscard]] T combine(Atomic operation, T old, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (operation) {
      case Atomic::add: return static_cast<T>(static_cast<U>(old) + static_cast<U>(a));
      case Atomic::and_: return old & a;
      case Atomic::or_: return old | a;
      case Atomic::xor_: return old ^ a;
      case Atomic::inc: return old >= a ? T{0} : static_cast<T>(old + 1);
      case Atomic::dec: return old == 0 || old > a ? a : static_cast<T>(old - 1);
      default: break;
    }
  } else if (operation == Atomic::add) {
    return canonical(old + a);
  }
  switch (operation) {
    case Atomic::min: return a < old ? a : old;
    case Atomic::max: return old < a ? a : old;
    case Atomic::exch: return a;
    case Atomic::cas: return old == a ? b : old;
    default: return old;
  }
}

}  // namespace sim
TMAJIT_END
