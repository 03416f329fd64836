#pragma once

#include "reference/walk.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace reference {

// How the CPU finds the elements that index tensors select. The selected tensor is the one whose elements
// they select, the moved tensor the one in whose shape elements are moved.

/// The arguments of gather, scatter, scatter_add and gather_sum.
struct IndexedMove {
  const tmajit::Tensor& selected;
  const tmajit::Tensor& moved;
  std::span<const tmajit::Tensor> index;
  const tmajit::Dims& axes;
  bool along = false;
  bool flat = false;
  bool clamps = false;
  /// The term of a gather_sum: an index of the last dimension of its index tensor. Nothing for others.
  std::optional<std::uint64_t> term = std::nullopt;
};
template <class What>
[[nodiscard]] bool along_of(const What& what) {
  if constexpr (requires { what.along; }) return what.along;
  return false;
}
template <class What>
[[nodiscard]] IndexedMove indexed_move(const tmajit::Move& move, const What& what, bool gathers) {
  const tmajit::Tensor& source = move.sources.front();
  return {.selected = gathers ? source : move.destination,
          .moved = gathers ? move.destination : source,
          .index = std::span(move.sources).subspan(1),
          .axes = what.axes,
          .along = along_of(what),
          .flat = what.flat,
          .clamps = what.out_of_range == tmajit::OutOfRange::clamp};
}

/// The index of the selected element for an index of the moved tensor; nothing if one is out of range.
[[nodiscard]] std::optional<Index> selected_index(const IndexedMove& move, const Index& at);

/// Calls visit(selected, at) for each index `at` of the moved tensor that selects an element in `part` of the
/// selected tensor.
template <class Visit>
void for_each_selected(const IndexedMove& move, const Part& part, const Visit& visit) {
  for_each_index(move.moved.view.rank, whole(move.moved.view), [&](const Index& at) {
    const std::optional<Index> selected = selected_index(move, at);
    if (!selected) return;
    for (std::uint32_t d = 0; d < move.selected.view.rank; ++d) {
      if (selected->at(d) - part.first.at(d) >= part.count.at(d)) return;
    }
    visit(*selected, at);
  });
}

/// The position of an element of a part in row-major order.
[[nodiscard]] std::uint64_t position_in(const Part& part, std::uint32_t rank, const Index& index);

}  // namespace reference
