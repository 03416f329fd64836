#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// A chain of reductions and element-wise steps over rows, in one kernel and, where a row fits on the chip,
/// one pass over memory. A row consists of the elements along `axes`; rows are independent of each other.
///
/// `steps` are assignments, separated by semicolons. Softmax:
///
///     m = max(x); e = expf(x - m); y = e / sum(e)
///
/// - `name = reduction(expression)` reduces the expression's values over the row: sum, mean, min, max, any,
///   all, arg_min or arg_max of one argument, as ReductionOp defines them. A reduction may also stand within
///   an expression, as sum(e) does above.
/// - `name = expression` is C, as in Map: it reads x0 … x7 (x for one source), p0 … p7 for number(), the
/// results of earlier steps,
///   i, the element's index in its row, and n, the row's length (both 32-bit integers). If it reads an
///   element, it has a value for each element of the row; otherwise one for the row.
/// - y0 … y7 (y for one destination) are the destinations. Each is assigned once. Other names are free,
/// except
///   `slot`, `steps`, and those that begin with kept_ or pair_.
struct Rowwise {
  static constexpr std::string_view operation = "rowwise";
  std::string steps = {};
  Dims axes = {-1};  ///< the dimensions of a row; negative ones count from the end
  /// The destination that a move computes; set by operation::rowwise().
  std::uint32_t result = 0;
};

namespace operation {
/// The steps over sources that are broadcast to each other's shapes. A destination with a value for each
/// element has that shape. One with a value for each row lacks the dimensions `axes`, or has extents of 1
/// there. Throws Error{invalid_argument} for wrong steps, without a source, for one that cannot be broadcast,
/// and unless there is one destination for each y; plan() throws SpecError for axes or a destination's shape
/// that do not fit. A source may be a destination with a value for each element.
[[nodiscard]] TMAJIT_API Operation rowwise(List<Tensor> destinations, const Rowwise& what,
                                           List<Tensor> sources);
}  // namespace operation

/// One call: plan(runtime, operation::rowwise(…)) and a launch (docs/rowwise.md).
TMAJIT_API void rowwise(const Runtime& runtime, List<Tensor> destinations, const Rowwise& what,
                        List<Tensor> sources, Stream stream = nullptr);

TMAJIT_END
