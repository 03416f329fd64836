#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/list.hpp>
#include <tmajit/out_of_range.hpp>
#include <tmajit/tensor.hpp>

#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// Adds a source's elements to those of the destination that index tensors select: NumPy's add.at(y, index,
/// x).
struct ScatterAdd {
  static constexpr std::string_view operation = "scatter_add";
  Dims axes = {0};     ///< as Scatter::axes
  bool along = false;  ///< as Scatter::along
  OutOfRange out_of_range = OutOfRange::skip;
};

namespace operation {
/// Both tensors have the same type, for which combined_as(CombineOp::add, type) returns a type. Each element
/// is added atomically at the scope of the GPU, so several launches may be in flight on one destination.
/// Additions have no fixed order, so floating-point sums may differ in their last bits from launch to launch.
/// plan() throws SpecError for axes, shapes or types that do not fit.
[[nodiscard]] TMAJIT_API Operation scatter_add(const Tensor& destination, const Tensor& source,
                                               List<Tensor> index, const ScatterAdd& what = {});
}  // namespace operation

/// One call: plan(runtime, operation::scatter_add(…)) and a launch (docs/gather.md).
TMAJIT_API void scatter_add(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                            List<Tensor> index, const ScatterAdd& what = {}, Stream stream = nullptr);

TMAJIT_END
