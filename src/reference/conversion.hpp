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
  bool to_integral = false;  ///< .rni and similar: rounds to an integral value, even if `to` is a float
  bool flushes = false;      ///< .ftz: flushes f32 sources and results, except a source that becomes an f16
  bool saturates = false;    ///< .sat: to the range of an integer, or to [0, 1]
  bool ends_finite = false;  ///< .satfinite: overflow gives the largest finite value (e4m3, e5m2: always)
  bool rectifies = false;    ///< .relu
};

/// Converts the bits of a number to the bits of the result, both in the low bytes; a tf32 has 32 bits. Where
/// the ISA leaves the result open (bits of NaNs, values that .ftz flushes), it is that of an H200
/// (docs/tma.md).
[[nodiscard]] std::uint64_t convert(const Conversion& conversion, std::uint64_t bits);

}  // namespace reference
