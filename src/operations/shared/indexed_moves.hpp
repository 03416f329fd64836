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

// gather, scatter and scatter_add. The selected tensor is the one whose elements indices select: the source
// of gather, the destination of the others. The moved tensor has the shape in which elements are moved.

/// The arguments that these operations have in common.
struct Indexing {
  IndexedUse use = IndexedUse::gather;
  Dims axes = {0};
  bool along = false;
  OutOfRange out_of_range = OutOfRange::skip;
};
template <class What>
[[nodiscard]] Indexing indexing_of(IndexedUse use, const What& what) {
  return {use, what.axes, what.along, what.out_of_range};
}

/// The indexed dimensions of the selected tensor: `count` neighbours from `first` on. Nothing if `axes` does
/// not name such dimensions.
struct IndexedAxes {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
[[nodiscard]] std::optional<IndexedAxes> indexed_axes(const Dims& axes, std::size_t rank) noexcept;

/// The shape of the moved tensor of a gather. Throws Error{invalid_argument} if the tensors do not fit.
[[nodiscard]] std::vector<std::uint64_t> gathered_shape(std::span<const TensorView> sources,
                                                        const Indexing& what);
/// A destination of a scatter: as many elements along the first indexed axis as indices select at most.
/// Throws Error{invalid_argument} if the tensors do not fit.
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
