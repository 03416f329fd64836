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
  bool flat = false;   ///< as Scatter::flat
  OutOfRange out_of_range = OutOfRange::skip;
  /// Additions to an element have a fixed order, the index tensor's if the tensors are row-major, and each is
  /// rounded to the element's type. Equal launches then leave equal bits. Each CTA reads all indices.
  bool deterministic = false;
};

namespace operation {
/// Both tensors have the same type, one of i32, u32, i64, u64, f16, bf16, f32, f32_ftz and f64. Unless
/// `deterministic` is set, each element is added atomically at the scope of the GPU, so several launches may
/// be in flight on one destination; floating-point sums may then differ in their last bits from launch to
/// launch. plan() throws SpecError for axes, shapes or types that do not fit.
[[nodiscard]] TMAJIT_API Operation scatter_add(const Tensor& destination, const Tensor& source,
                                               List<Tensor> index, const ScatterAdd& what = {});
}  // namespace operation

/// One call: plan(runtime, operation::scatter_add(…)) and a launch (docs/gather.md).
TMAJIT_API void scatter_add(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                            List<Tensor> index, const ScatterAdd& what = {}, Stream stream = nullptr);

TMAJIT_END
