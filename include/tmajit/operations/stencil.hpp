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

/// The element that a stencil reads for a neighbour beyond the edge of a source, which has n elements along
/// the dimension.
enum class Boundary : std::uint8_t {
  zero,      ///< 0
  constant,  ///< Stencil::value
  clamp,     ///< the nearest element: index -2 reads element 0
  wrap,      ///< the element from the other end: index -2 reads element n - 2
  reflect,   ///< mirrored without repeating the edge, as NumPy's "reflect": index -2 reads element 2
};
/// "zero", "constant", "clamp", "wrap", "reflect".
[[nodiscard]] TMAJIT_API std::string_view name(Boundary boundary) noexcept;
/// The inverse of name(); throws Error{invalid_argument} that lists the legal names.
template <>
[[nodiscard]] TMAJIT_API Boundary parse<Boundary>(std::string_view name);

/// The most dimensions that a stencil's offsets can have.
inline constexpr std::uint32_t max_stencil_dims = 3;

/// An expression of neighbours, computed for each element of the destination.
struct Stencil {
  static constexpr std::string_view operation = "stencil";
  Boundary boundary = Boundary::zero;
  double value = 0;  ///< value for Boundary::constant, converted to the source's type
  /// The destination's dimension for each offset, in the order of the offsets; a negative number counts from
  /// the end. Empty: the last dimensions.
  Dims dims = {};
  /// Each source is called with the offsets of a neighbour: "x0(-1, 0) + x0(1, 0)"; x0 alone is x0(0, 0).
  /// operation::stencil() sets it.
  std::string expression = {};
};

namespace operation {
/// map() of neighbours: "0.25f * (x0(-1, 0) + x0(1, 0) + x0(0, -1) + x0(0, 1))". Offsets are whole numbers,
/// written out, one for each of 1 to 3 dimensions (`stencil.dims`). The expression may read p0 … for
/// number(). No source may be the destination. Throws what map() throws; plan() throws SpecError for invalid
/// offsets or dimensions.
[[nodiscard]] TMAJIT_API Operation stencil(const Tensor& destination, std::string_view expression,
                                           List<Tensor> sources, const Stencil& stencil = {});
}  // namespace operation

/// One call: plan(runtime, operation::stencil(…)) and a launch (docs/stencil.md).
TMAJIT_API void stencil(const Runtime& runtime, const Tensor& destination, std::string_view expression,
                        List<Tensor> sources, const Stencil& stencil = {}, Stream stream = nullptr);

TMAJIT_END
