#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/list.hpp>
#include <tmajit/out_of_range.hpp>
#include <tmajit/tensor.hpp>

#include <optional>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// Adds up elements that an index tensor selects, each times a weight: y[…] = Σ weights[…, k] ·
/// x[index[…, k]]. The last dimension of the index tensor is summed. Embedding bags of a fixed length, and
/// the combination of a token's experts.
struct GatherSum {
  static constexpr std::string_view operation = "gather_sum";
  Dims axes = {0};    ///< the indexed dimension of the source; several if `flat` is set
  bool flat = false;  ///< as Gather::flat
  /// `skip` adds nothing for an index out of range, whatever its weight is.
  OutOfRange out_of_range = OutOfRange::skip;
};

namespace operation {
/// Elements are added in the order of the index, in f32; in f64 if the source or the weights are f64.
/// Integers without weights are added in 64 bits and wrap. The sum is rounded once to the destination's type.
/// The index tensor has elements of i32, i64, u32 or u64; `weights` has its shape and floating-point
/// elements; without weights each is 1. The destination has the source's dimensions, with the index tensor's
/// dimensions but the last in place of the indexed one; it may not overlap another tensor. plan() throws
/// SpecError for axes, shapes or types that do not fit.
[[nodiscard]] TMAJIT_API Operation gather_sum(const Tensor& destination, const Tensor& source,
                                              const Tensor& index, const std::optional<Tensor>& weights = {},
                                              const GatherSum& what = {});
}  // namespace operation

/// One call: plan(runtime, operation::gather_sum(…)) and a launch (docs/gather.md).
TMAJIT_API void gather_sum(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                           const Tensor& index, const std::optional<Tensor>& weights = {},
                           const GatherSum& what = {}, Stream stream = nullptr);

TMAJIT_END
