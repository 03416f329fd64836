#pragma once

#include <tmajit/list.hpp>
#include <tmajit/names.hpp>
#include <tmajit/tensor.hpp>

#include <array>
#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// The orders in which cast_transpose stores the converted matrix.
enum class CastOrders : std::uint8_t {
  both,        ///< plain, then transposed
  plain,       ///< the source's order
  transposed,  ///< rows become columns
};
inline constexpr std::array all_cast_orders{CastOrders::both, CastOrders::plain, CastOrders::transposed};
/// "both", "plain", "transposed".
[[nodiscard]] TMAJIT_API std::string_view name(CastOrders orders) noexcept;
/// The orders of that name. Throws Error{invalid_argument} that lists the names.
template <>
[[nodiscard]] TMAJIT_API CastOrders parse<CastOrders>(std::string_view name);

/// Multiplies a matrix by a scale, converts it, stores it in one or both orders, and finds its greatest
/// magnitude, in one launch that reads the matrix once.
struct CastTranspose {
  static constexpr std::string_view operation = "cast_transpose";
  CastOrders orders = CastOrders::both;
  bool amax = true;  ///< whether the last destination gets the greatest magnitude
  /// The result that a move computes; set by operation::cast_transpose().
  enum class Result : std::uint8_t { plain, transposed, amax } result = Result::plain;
};

namespace operation {
/// `destinations` are those of these three that `what` selects, in this order:
///
/// - `y`: the shape of x, and elements of e4m3, e5m2, i8, f16 or bf16.
/// - `transposed`: the type of y, and the shape of x with the last two dimensions swapped.
/// - `amax`: one element of f32, the greatest |x| without the scale; NaN if an element of x is NaN.
///
/// `sources` are {x, scale} or {x}:
///
/// - `x`: at least two dimensions, of which the last two are the matrix; f16, bf16 or f32.
/// - `scale`: a tensor with one element of f32, or number(float); 1 by default.
///
/// An element of y is x · scale in f32, rounded to the nearest value, ties to even. Beyond their range, e4m3,
/// e5m2 and i8 are clamped, and f16 and bf16 become ∞. NaN stays NaN; in i8 it becomes 0.
///
/// Throws Error{invalid_argument} for a wrong number of tensors. plan() throws SpecError for shapes and types
/// that do not fit, and for `amax` of an x without elements.
[[nodiscard]] TMAJIT_API Operation cast_transpose(List<Tensor> destinations, const CastTranspose& what,
                                                  List<Tensor> sources);
}  // namespace operation

/// One call: plan(runtime, operation::cast_transpose(…)) and a launch (docs/quantize.md).
TMAJIT_API void cast_transpose(const Runtime& runtime, List<Tensor> destinations, const CastTranspose& what,
                               List<Tensor> sources, Stream stream = nullptr);

TMAJIT_END
