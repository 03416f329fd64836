#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/list.hpp>
#include <tmajit/out_of_range.hpp>
#include <tmajit/tensor.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// Takes the elements of a source that index tensors select: their bits, or an expression of each.
struct Gather {
  static constexpr std::string_view operation = "gather";
  /// The dimensions of the source that are indexed, one for each index tensor; a negative one counts from the
  /// end. Several axes must be adjacent and in ascending order. In the destination's shape, the dimensions of
  /// the index tensors, which are broadcast to each other, replace the axes: NumPy's take(x, index, axis) and
  /// x[i0, i1].
  Dims axes = {0};
  /// NumPy's take_along_axis: the one index tensor has the source's rank. Both are broadcast to the
  /// destination's shape, which has the index tensor's extent along the axis.
  bool along = false;
  /// One index tensor numbers the elements of all `axes` together, in row-major order: for the axes {0, 1}
  /// the number is i0 · (extent of axis 1) + i1. Negative numbers count from the end of all these elements.
  bool flat = false;
  OutOfRange out_of_range = OutOfRange::skip;
  /// The element that `skip` stores, converted to the destination's type as Map does. `expression` is not
  /// computed for it.
  double value = 0;
  /// A C expression of x, the selected element, and of numbers p0 …, as Map has. Its value is converted to
  /// the destination's type. Empty: bits are moved.
  std::string expression = {};
};

namespace operation {
/// The elements of `source` that 1 to 7 index tensors select. Without an expression, the elements of source
/// and destination have the same size. Index tensors have one type: i32, i64, u32 or u64. The numbers p0 … of
/// an expression follow them in `index`. The destination may not overlap another tensor.
/// plan() throws SpecError for axes, shapes or types that do not fit.
[[nodiscard]] TMAJIT_API Operation gather(const Tensor& destination, const Tensor& source, List<Tensor> index,
                                          const Gather& what = {});
}  // namespace operation

/// One call: plan(runtime, operation::gather(…)) and a launch (docs/gather.md).
TMAJIT_API void gather(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                       List<Tensor> index, const Gather& what = {}, Stream stream = nullptr);

TMAJIT_END
