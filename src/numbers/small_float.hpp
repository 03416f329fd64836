#pragma once

/// Floating-point formats of at most 16 bits on the host.
#include <cstdint>

namespace numbers {

/// A floating-point format of at most 16 bits: sign, exponent, mantissa.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< if false, only the largest pattern is NaN; its exponent has finite values, too
                      ///< (e4m3)
  bool saturates;     ///< larger values, infinity included, are converted to the largest finite value
};

inline constexpr SmallFloat f16_format{5, 10, true, false};
inline constexpr SmallFloat bf16_format{8, 7, true, false};
inline constexpr SmallFloat e4m3_format{4, 3, false, true};
inline constexpr SmallFloat e5m2_format{5, 2, true, true};

/// The value of `bits`, which a float holds exactly.
[[nodiscard]] float decode(const SmallFloat& format, std::uint16_t bits);
/// Rounds to nearest, ties to even. NaN becomes the pattern of all ones without the sign.
[[nodiscard]] std::uint16_t encode(const SmallFloat& format, double value);

/// Rounds the bits of an f32 to 10 mantissa bits, to nearest, ties to even; infinities and NaNs are kept.
[[nodiscard]] std::uint32_t round_to_tf32(std::uint32_t bits);

}  // namespace numbers
