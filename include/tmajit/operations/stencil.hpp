#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/list.hpp>
#include <tmajit/names.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// The element that a stencil reads for a neighbour beyond an edge of a source of n elements along the
/// dimension.
enum class Boundary : std::uint8_t {
  zero,      ///< 0
  constant,  ///< Stencil::value
  clamp,     ///< the nearest element: of index -2 that of 0
  wrap,      ///< element from the other end: for -2 that of n - 2
  reflect,   ///< mirrored element, the edge not repeated, as NumPy's "reflect": for -2 that of 2
};
/// "zero", "constant", "clamp", "wrap", "reflect".
[[nodiscard]] TMAJIT_API std::string_view name(Boundary boundary) noexcept;
/// The inverse of name(); throws Error{invalid_argument} that lists the legal names.
template <>
[[nodiscard]] TMAJIT_API Boundary parse<Boundary>(std::string_view name);

/// Dimensions that the offsets of a stencil can be along.
inline constexpr std::uint32_t max_stencil_dims = 3;

/// An expression of neighbours, computed for each element of the destination.
struct Stencil {
  static constexpr std::string_view operation = "stencil";
  Boundary boundary = Boundary::zero;
  double value = 0;  ///< value for Boundary::constant, converted to the source's type
  /// The destination's dimensions that the offsets of a call are along, in their order; a negative one counts
  /// from the end. Empty: the last ones.
  Dims dims = {};
  /// In sources that are called with offsets of neighbours: "x0(-1, 0) + x0(1, 0)"; x0 alone is x0(0, 0).
  /// operation::stencil() sets it.
  std::string expression = {};
};

namespace operation {
/// map() of neighbours: "0.25f * (x0(-1, 0) + x0(1, 0) + x0(0, -1) + x0(0, 1))". Offsets are whole numbers,
/// written out, one for each of 1 to 3 dimensions (`stencil.dims`). No source may be the destination. Throws
/// what map() throws; plan() throws SpecError for invalid offsets or dimensions.
[[nodiscard]] TMAJIT_API Operation stencil(const Tensor& destination, std::string_view expression,
                                           List<Tensor> sources, const Stencil& stencil = {});
}  // namespace operation

/// One call: plan(runtime, operation::stencil(…)) and a launch (docs/stencil.md).
TMAJIT_API void stencil(const Runtime& runtime, const Tensor& destination, std::string_view expression,
                        List<Tensor> sources, const Stencil& stencil = {}, Stream stream = nullptr);

TMAJIT_END
