#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/version.hpp>

#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

/// What a stencil reads where a neighbour lies beyond an edge of a source, of n elements along the dimension.
enum class Boundary : std::uint8_t {
  zero,      ///< 0
  constant,  ///< Stencil::value
  clamp,     ///< the nearest element: of index -2 that of 0
  wrap,      ///< that from the other end: of -2 that of n - 2
  reflect,   ///< that as far inside, the edge not repeated, as NumPy's "reflect": of -2 that of 2
};
/// "zero", "constant", "clamp", "wrap", "reflect".
[[nodiscard]] TMAJIT_API std::string_view name(Boundary boundary) noexcept;
/// The inverse of name(); throws Error{invalid_argument} that lists the legal names.
[[nodiscard]] TMAJIT_API Boundary parse_boundary(std::string_view);

/// Dimensions that the offsets of a stencil can be along.
inline constexpr std::uint32_t max_stencil_dims = 3;

/// What a stencil is told besides its expression.
struct Stencil {
  Boundary boundary = Boundary::zero;
  double value = 0;  ///< of Boundary::constant, converted to the source's type
  /// The destination's dimensions that the offsets of a call are along, in their order; a negative one counts
  /// from the end. Empty: the last ones.
  Dims dims = {};
};

TMAJIT_END
