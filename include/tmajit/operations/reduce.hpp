#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/list.hpp>
#include <tmajit/names.hpp>
#include <tmajit/tensor.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// How a reduction combines the elements along its axes.
enum class ReductionOp : std::uint8_t {
  sum,
  mean,  ///< the sum divided by the count; in f64 for integers
  min,   ///< NaN propagates, as in NumPy and PyTorch
  max,   ///< NaN propagates
  any,   ///< 1 if an element differs from 0, as NaN does; else 0
  all,   ///< 1 if no element is 0, else 0
  /// The first index of the least element, or of a NaN if there is one. The index counts the elements of the
  /// reduced axes in row-major order.
  arg_min,
  arg_max,  ///< the first index of the greatest element, or of a NaN
};
inline constexpr std::array all_reduction_ops{ReductionOp::sum,     ReductionOp::mean,   ReductionOp::min,
                                              ReductionOp::max,     ReductionOp::any,    ReductionOp::all,
                                              ReductionOp::arg_min, ReductionOp::arg_max};
/// "sum", "arg_min".
[[nodiscard]] TMAJIT_API std::string_view name(ReductionOp op) noexcept;
/// The operation of that name. Throws Error{invalid_argument} that lists the names.
template <>
[[nodiscard]] TMAJIT_API ReductionOp parse<ReductionOp>(std::string_view name);

/// A reduction of some dimensions of its sources; deterministic. Sums of f64 accumulate in f64, of other
/// floating-point types in f32, of integers in 64 bits, where they wrap. `min` and `max` of integers
/// accumulate in at least 32 bits. `arg_min` and `arg_max` return 64-bit indices. Without elements `sum` and
/// `any` give 0 and `all` gives 1; other operations need at least one element.
struct Reduction {
  static constexpr std::string_view operation = "reduce";
  ReductionOp op = ReductionOp::sum;
  Dims axes =
      {};  ///< reduced dimensions of the sources; negative ones count from the end; empty: all dimensions
  /// The expression that is reduced, of x0 … x7 (x for one source) and p0 …: "x * x". Empty: the one tensor's
  /// values.
  std::string expression = {};
  /// The epilogue of each result x of n elements, which may read p0 …, too: "sqrt(x / n) * p0"; n has the
  /// type of x. Empty: x.
  std::string epilogue = {};
  /// Whether the destination keeps the reduced dimensions, with an extent of 1, so that it can be broadcast
  /// to the sources.
  bool keep_dims = false;
};

namespace operation {
/// The reduction `what` of the sources. These are broadcast to each other's shapes. The destination has the
/// dimensions that are not reduced, in order, and with `keep_dims` the reduced ones as extents of 1. Throws
/// Error{invalid_argument} without a source, or for one that cannot be broadcast; plan() throws SpecError for
/// axes or a destination's shape that do not fit.
[[nodiscard]] TMAJIT_API Operation reduce(const Tensor& destination, const Reduction& what,
                                          List<Tensor> sources);
}  // namespace operation

/// One call: plan(runtime, operation::reduce(…)) and a launch (docs/reduce.md).
TMAJIT_API void reduce(const Runtime& runtime, const Tensor& destination, const Reduction& what,
                       List<Tensor> sources, Stream stream = nullptr);

TMAJIT_END
