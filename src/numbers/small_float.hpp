#pragma once

/// Floating-point formats of at most 16 bits on the host.
#include <cstdint>

namespace numbers {

/// A floating-point format: sign, exponent, mantissa. The conversions below take those of at most 16 bits.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< else only the largest pattern is NaN, and the rest of its exponent is finite (e4m3)
  bool saturates;     ///< conversions end at the largest finite value, infinity included
};

inline constexpr SmallFloat f16_format{5, 10, true, false};
inline constexpr SmallFloat bf16_format{8, 7, true, false};
inline constexpr SmallFloat e4m3_format{4, 3, false, true};
inline constexpr SmallFloat e5m2_format{5, 2, true, true};

/// Exact: every such value is a float.
[[nodiscard]] float decode(const SmallFloat& format, std::uint16_t bits);
/// To nearest, ties to even. NaN becomes the pattern of all ones without the sign.
[[nodiscard]] std::uint16_t encode(const SmallFloat& format, double value);

/// f32 bits to the nearest with 10 mantissa bits, ties to even; infinities and NaNs stay.
[[nodiscard]] std::uint32_t round_to_tf32(std::uint32_t bits);

}  // namespace numbers
