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

/// Adds up elements that an index tensor selects, each times a weight:
/// y[…] = Σ weights[…, k] · x[index[…, k]], with k along the last dimension of the index tensor. Serves
/// embedding bags, and combines the results of a token's experts.
///
/// With offsets the index tensor is a list of indices, divided into bags of different lengths:
/// y[…, b, …] = Σ weights[k] · x[…, index[k], …] for k from offsets[b] to offsets[b + 1] − 1.
struct GatherSum {
  static constexpr std::string_view operation = "gather_sum";
  /// The indexed dimension of the source; several neighbouring ones if `flat` is set. A negative one counts
  /// from the end.
  Dims axes = {0};
  bool flat = false;  ///< as Gather::flat: an index numbers the elements of all axes together
  /// `skip` adds nothing for an index out of range, whatever its weight is.
  OutOfRange out_of_range = OutOfRange::skip;
  /// Whether the last source holds offsets. The functions below set it if offsets are given.
  bool ragged = false;
};

namespace operation {
/// Sums accumulate in the order of the index: in f64 if the source or the weights are f64, in 64 bits, where
/// they wrap, for integers without weights, in f32 for all other types. A sum is rounded once to the
/// destination's type.
///
/// - `index`: i32, i64, u32 or u64.
/// - `weights`: floating point, with the shape of `index`. Without weights each is 1.
/// - `offsets`: i32 or i64, of one dimension: the first index of each bag, then the end of the last bag. Then
///   `index` has one dimension, too. Each offset is clamped to the range from 0 to the number of indices. A
///   bag whose end is not after its beginning is empty, and its sum is 0.
/// - `destination`: the source's shape, with the dimensions of `index` but the last in place of the indexed
///   ones, or with one dimension for the bags. It may not overlap another tensor.
///
/// plan() throws SpecError for axes, shapes or types that do not fit.
[[nodiscard]] TMAJIT_API Operation gather_sum(const Tensor& destination, const Tensor& source,
                                              const Tensor& index, const std::optional<Tensor>& weights = {},
                                              const GatherSum& what = {},
                                              const std::optional<Tensor>& offsets = {});
}  // namespace operation

/// One call: plan(runtime, operation::gather_sum(…)) and a launch (docs/gather.md).
TMAJIT_API void gather_sum(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                           const Tensor& index, const std::optional<Tensor>& weights = {},
                           const GatherSum& what = {}, Stream stream = nullptr,
                           const std::optional<Tensor>& offsets = {});

TMAJIT_END
