#pragma once

#include "kernel/problem.hpp"
#include "operations/shared/move_rules.hpp"

#include <tmajit/operation.hpp>
#include <tmajit/out_of_range.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

TMAJIT_BEGIN

// gather, scatter, scatter_add and gather_sum. The selected tensor is the one whose elements indices select:
// the source of gather and gather_sum, the destination of scatter and scatter_add. The moved tensor has the
// shape in which elements are moved.

/// The arguments that these operations have in common.
struct Indexing {
  IndexedUse use = IndexedUse::gather;
  Dims axes = {0};
  bool along = false;
  bool flat = false;
  OutOfRange out_of_range = OutOfRange::skip;
  bool computes = false;  ///< elements are not moved: an expression of them is stored
  bool ragged = false;    ///< the last tensor holds the offsets of the bags that are summed

  [[nodiscard]] bool gathers() const noexcept {
    return use == IndexedUse::gather || use == IndexedUse::gather_sum;
  }
  /// Whether the last dimension of the index tensor is summed.
  [[nodiscard]] bool sums() const noexcept { return use == IndexedUse::gather_sum; }
};
template <class What>
[[nodiscard]] Indexing indexing_of(IndexedUse use, const What& what) {
  Indexing indexing{.use = use, .axes = what.axes, .flat = what.flat, .out_of_range = what.out_of_range};
  if constexpr (requires { what.along; }) indexing.along = what.along;
  if constexpr (requires { what.expression; }) indexing.computes = !what.expression.empty();
  if constexpr (requires { what.ragged; }) indexing.ragged = what.ragged;
  return indexing;
}

/// The indexed dimensions of the selected tensor: `count` neighbours from `first` on. Nothing if `axes` does
/// not name such dimensions.
struct IndexedAxes {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
[[nodiscard]] std::optional<IndexedAxes> indexed_axes(const Dims& axes, std::size_t rank) noexcept;

/// The shape of the moved tensor of a gather or a gather_sum. Throws Error{invalid_argument} if the tensors
/// do not fit.
[[nodiscard]] std::vector<std::uint64_t> gathered_shape(std::span<const TensorView> sources,
                                                        const Indexing& what);
/// The shape of a scatter's destination, if none is given. Without `along`, the first indexed axis has one
/// element for each index, and further indexed axes have one element. Throws Error{invalid_argument} if the
/// tensors do not fit.
[[nodiscard]] std::vector<std::uint64_t> scattered_shape(std::span<const TensorView> sources,
                                                         const Indexing& what);

/// Adds the rules that a move breaks.
void check_indexed(MoveRules& rules, const Indexing& what);
/// The canonical problem of a legal move. `value` is what a gather stores for an index out of range.
[[nodiscard]] Problem indexed_problem(const Move& move, const Indexing& what, double value = 0);

/// The operation that consists of the move `body` of these tensors.
[[nodiscard]] Operation indexed_operation(const Tensor& destination, const Tensor& source,
                                          std::span<const Tensor> index, const MoveBody& body);

TMAJIT_END
