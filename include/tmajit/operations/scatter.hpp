#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/list.hpp>
#include <tmajit/out_of_range.hpp>
#include <tmajit/tensor.hpp>

#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// Stores a source's elements where index tensors say, bit for bit. Elements of the destination that no index
/// selects keep their bits.
struct Scatter {
  static constexpr std::string_view operation = "scatter";
  /// The dimensions of the destination that are indexed, as Gather::axes are the source's: NumPy's
  /// y[i0, i1] = x.
  Dims axes = {0};
  /// NumPy's put_along_axis: the one index tensor has the destination's rank and is broadcast to the source's
  /// shape. The shapes of source and destination differ along the axis only.
  bool along = false;
  bool flat = false;  ///< as Gather::flat, of the destination's axes
  OutOfRange out_of_range = OutOfRange::skip;
};

namespace operation {
/// The inverse of gather(). If several indices select an element, it becomes one of their elements, whole;
/// which one may differ from launch to launch. plan() throws SpecError for axes, shapes or types that do not
/// fit.
[[nodiscard]] TMAJIT_API Operation scatter(const Tensor& destination, const Tensor& source,
                                           List<Tensor> index, const Scatter& what = {});
}  // namespace operation

/// One call: plan(runtime, operation::scatter(…)) and a launch (docs/gather.md).
TMAJIT_API void scatter(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                        List<Tensor> index, const Scatter& what = {}, Stream stream = nullptr);

TMAJIT_END
