#pragma once

#include <tmajit/tensor.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// Maps indices of a view to indices of a whole tensor. The index in dimension d of the whole is first[d] +
/// the sum over k of step[k][d] · (index in dimension k of the view).
struct IndexMap {
  TensorView whole = {};
  TensorView view = {};
  std::array<std::int64_t, max_view_rank> first{};
  std::array<std::array<std::int64_t, max_view_rank>, max_view_rank> step{};

  /// Whether both have the same shape, and each element has the same index in both.
  [[nodiscard]] bool is_identity() const noexcept;
};

/// The map from `view` to `whole`, no two elements of which may share an address. Nothing if the view has
/// elements outside of the whole, elements of another size or no elements, or if a dimension of the view
/// steps along no single dimension of the whole.
[[nodiscard]] std::optional<IndexMap> index_map(const Tensor& whole, const Tensor& view);

/// The elements of `source`, a tensor of the whole's shape, in the order of the view. A number stays a
/// number.
[[nodiscard]] Tensor pulled(const IndexMap& map, const Tensor& source);
/// The elements of `destination`, a tensor of the view's shape, in the order of the whole. Nothing unless the
/// view has each element of the whole once, in dimensions that are permuted or reversed.
[[nodiscard]] std::optional<Tensor> pushed(const IndexMap& map, const Tensor& destination);

/// The tensors of one shape with neighbouring dimensions joined where all of them allow it.
[[nodiscard]] std::vector<Tensor> joined(std::vector<Tensor> tensors);

TMAJIT_END
