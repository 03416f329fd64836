#pragma once

#include <tmajit/element_type.hpp>

#include <cstdint>

namespace reference {

/// A conversion of one number as PTX's `cvt` names it (PTX ISA 9.7.9, "cvt").
struct Conversion {
  enum class Rounding : std::uint8_t { none, nearest, away, zero, down, up };
  tmajit::ElementType to{};
  tmajit::ElementType from{};
  Rounding rounding = Rounding::none;
  bool to_integral = false;  ///< .rni …: also between floats, to an integral value
  bool flushes = false;      ///< .ftz: of f32, source and result; but an f32 that becomes an f16 stays
  bool saturates = false;    ///< .sat: to the range of an integer, or to [0, 1]
  bool ends_finite = false;  ///< .satfinite; e4m3 and e5m2 always
  bool rectifies = false;    ///< .relu
};

/// Converts the bits of a number to those of the result, both in the low bytes. All 32 bits of a tf32 count.
/// Where the ISA leaves the result open (bits of NaNs, values that .ftz flushes), it is that of an H200
/// (docs/tma.md).
[[nodiscard]] std::uint64_t convert(const Conversion& how, std::uint64_t bits);

}  // namespace reference
