#pragma once

#include <tmajit/tensor.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// Which element of a tensor, the whole, each element of a view of it is: the index of the whole in dimension
/// d is first[d] + the sum of step[k][d] · (index of the view in dimension k).
struct IndexMap {
  TensorView whole = {};
  TensorView view = {};
  std::array<std::int64_t, max_view_rank> first{};
  std::array<std::array<std::int64_t, max_view_rank>, max_view_rank> step{};

  /// Whether both have equal indices for equal elements.
  [[nodiscard]] bool is_identity() const noexcept;
};

/// The map from `view` to `whole`, whose elements are at different addresses. Nothing if the view has other
/// elements, elements of another size, or none, or if a dimension of the view is no walk along one dimension
/// of the whole.
[[nodiscard]] std::optional<IndexMap> index_map(const Tensor& whole, const Tensor& view);

/// The elements of `source`, a tensor of the whole's shape, in the order of the view. A number stays a
/// number.
[[nodiscard]] Tensor pulled(const IndexMap& map, const Tensor& source);
/// The elements of `destination`, a tensor of the view's shape, in the order of the whole: element i of it is
/// where the view's element goes that is element i of the whole. Nothing unless the view has each element of
/// the whole once, in dimensions that are permuted or reversed.
[[nodiscard]] std::optional<Tensor> pushed(const IndexMap& map, const Tensor& destination);

/// The tensors of one shape with neighbouring dimensions joined where all of them allow it.
[[nodiscard]] std::vector<Tensor> joined(std::vector<Tensor> tensors);

TMAJIT_END
