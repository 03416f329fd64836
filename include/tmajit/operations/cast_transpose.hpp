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
  both,
  plain,       ///< as the source has it
  transposed,  ///< rows become columns
};
inline constexpr std::array all_cast_orders{CastOrders::both, CastOrders::plain, CastOrders::transposed};
/// "both", "plain", "transposed".
[[nodiscard]] TMAJIT_API std::string_view name(CastOrders orders) noexcept;
/// The orders of that name. Throws Error{invalid_argument} that lists the names.
template <>
[[nodiscard]] TMAJIT_API CastOrders parse<CastOrders>(std::string_view name);

/// Multiplies a matrix by a scale, converts it, and stores it in one or both orders, with its greatest
/// magnitude, in one pass over memory.
struct CastTranspose {
  static constexpr std::string_view operation = "cast_transpose";
  CastOrders orders = CastOrders::both;
  bool amax = true;  ///< whether the last destination gets the greatest magnitude
  /// The result that a move computes; set by operation::cast_transpose().
  enum class Result : std::uint8_t { plain, transposed, amax } result = Result::plain;
};

namespace operation {
/// The destinations are, in this order and as far as `what` asks for them: y, with the shape of x; the
/// transposed y, whose last two dimensions are swapped; the greatest |x|, one element of f32. x has at least
/// two dimensions and elements of f16, bf16 or f32. Both y have one type: e4m3, e5m2, i8, f16 or bf16.
///
/// `sources` are x and the scale: a tensor with one element of f32, or number(float). Without a scale it is
/// 1. An element of y is x · scale in f32, rounded to the nearest value, ties to even. e4m3, e5m2 and i8 are
/// clamped to the greatest finite value; f16 and bf16 become ∞ beyond it. NaN stays NaN, and becomes 0 in i8.
/// The greatest |x| is that of x before it is scaled, and NaN if an element is NaN.
///
/// Throws Error{invalid_argument} for a wrong number of tensors; plan() throws SpecError for shapes and types
/// that do not fit, and for the greatest |x| of no elements.
[[nodiscard]] TMAJIT_API Operation cast_transpose(List<Tensor> destinations, const CastTranspose& what,
                                                  List<Tensor> sources);
}  // namespace operation

/// One call: plan(runtime, operation::cast_transpose(…)) and a launch (docs/quantize.md).
TMAJIT_API void cast_transpose(const Runtime& runtime, List<Tensor> destinations, const CastTranspose& what,
                               List<Tensor> sources, Stream stream = nullptr);

TMAJIT_END
