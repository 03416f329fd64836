#include "ops/overlap.hpp"

#include "ops/views.hpp"
#include "runtime/overlap.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

/// A tensor of a move that is not empty, with the bytes that it reaches.
struct Placed {
  const TensorView* view = nullptr;
  DevicePtr address = 0;
  ByteRange bytes;
  std::uint32_t move = 0;
  std::int32_t source = -1;  ///< −1 for the destination

  [[nodiscard]] PlacedView placed() const noexcept { return {*view, address}; }
  [[nodiscard]] bool is_destination() const noexcept { return source < 0; }
};

std::string name_of(const Placed& tensor, std::span<const Move> moves) {
  return tensor.is_destination() ? destination_name(moves, tensor.move)
                                 : source_name(moves, tensor.move, static_cast<std::size_t>(tensor.source));
}

std::string text_of(const Placed& tensor, std::span<const Move> moves) {
  return fmt::format("{} ({}, bytes {:#x} to {:#x})", name_of(tensor, moves), view_text(*tensor.view),
                     tensor.bytes.first, tensor.bytes.last);
}

/// Whether both are the same elements at the same indices.
bool identical(const Placed& a, const Placed& b) noexcept {
  if (a.address != b.address || size_of(a.view->type) != size_of(b.view->type)) return false;
  if (a.view->rank != b.view->rank) return false;
  for (std::uint32_t d = 0; d < a.view->rank; ++d) {
    if (a.view->shape[d] != b.view->shape[d]) return false;
    if (a.view->shape[d] != 1 && a.view->strides[d] != b.view->strides[d]) return false;
  }
  return true;
}

bool in_place(const Placed& a, const Placed& b, std::span<const Move> moves) noexcept {
  return a.move == b.move && a.is_destination() != b.is_destination() && !moves[a.move].expression.empty() &&
         identical(a, b);
}

[[noreturn]] void refuse_pair(const Placed& a, const Placed& b, Overlap answer, std::span<const Move> moves) {
  const bool written_twice = a.is_destination() && b.is_destination();
  const Placed& source = a.is_destination() ? b : a;
  const std::string legal = written_twice
                                ? std::string("give each destination elements of its own")
                                : fmt::format(
                                      "give the destination memory of its own, or move by way of a third "
                                      "tensor{}",
                                      moves[source.move].expression.empty()
                                          ? ""
                                          : "; in place, the source must be exactly the destination's view");
  const std::string_view problem =
      answer == Overlap::some ? "share memory"
                              : "have strides so odd that it cannot be told whether they share memory";
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} and {} {}. Elements are moved in any order, so nothing may be written where "
                          "something else is read or written: {}.",
                          text_of(a, moves), text_of(b, moves), problem, legal));
}

[[noreturn]] void refuse_self(const Placed& tensor, Overlap answer, std::span<const Move> moves) {
  const auto dense = TensorView::contiguous(tensor.view->type, extents(*tensor.view, "the destination"));
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("{} {} the same element at several indices, which would be written more than once; each "
                  "index needs an element of its own, as with strides {}.",
                  text_of(tensor, moves), answer == Overlap::some ? "has" : "may have",
                  fmt::join(std::span(dense.strides).first(dense.rank), ",")));
}

using Tensors = llvm::SmallVector<Placed, 12>;

void add(Tensors& tensors, const Placed& tensor, std::span<const Move> moves) {
  Placed placed = tensor;
  if (const auto bytes = byte_range(placed.placed())) {
    placed.bytes = *bytes;
    tensors.push_back(placed);
  } else if (placed.view->rank > max_view_rank || placed.view->elements() != 0) {
    const std::string name = name_of(placed, moves);
    static_cast<void>(extents(*placed.view, name));
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} ({} at {:#x}) reaches out of the address space; at most 2^62 bytes from the "
                            "first to the last element are possible",
                            name, view_text(*placed.view), placed.address));
  }
}

void require_pairs_apart(Tensors& tensors, std::span<const Move> moves) {
  // By their first bytes, so that each needs a look only at those that begin before it ends.
  std::sort(tensors.begin(), tensors.end(),
            [](const Placed& a, const Placed& b) { return a.bytes.first < b.bytes.first; });
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Placed& a = tensors[i];
    for (std::size_t j = i + 1; j < tensors.size() && tensors[j].bytes.first <= a.bytes.last; ++j) {
      const Placed& b = tensors[j];
      if (!a.is_destination() && !b.is_destination()) continue;
      const Overlap answer = overlap(a.placed(), a.bytes, b.placed(), b.bytes);
      if (answer != Overlap::none && !in_place(a, b, moves)) refuse_pair(a, b, answer, moves);
    }
  }
}

void require_written_once(const Tensors& tensors, std::span<const Move> moves) {
  for (const Placed& tensor : tensors) {
    if (!tensor.is_destination()) continue;
    const Overlap answer = self_overlap(tensor.placed());
    if (answer != Overlap::none) refuse_self(tensor, answer, moves);
  }
}

}  // namespace

void require_disjoint(std::span<const Move> moves) {
  Tensors tensors;
  for (std::uint32_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    add(tensors, {&move.destination.view, move.destination.address, {}, i, -1}, moves);
    for (std::size_t k = 0; k < move.sources.size(); ++k) {
      add(tensors, {&move.sources[k].view, move.sources[k].address, {}, i, static_cast<std::int32_t>(k)},
          moves);
    }
  }
  require_written_once(tensors, moves);
  require_pairs_apart(tensors, moves);
}

void require_disjoint(std::span<const Move> moves, std::span<const DevicePtr> destinations,
                      std::span<const DevicePtr> sources) {
  Tensors tensors;
  std::size_t source = 0;
  for (std::uint32_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    add(tensors, {&move.destination.view, destinations[i], {}, i, -1}, moves);
    for (std::size_t k = 0; k < move.sources.size(); ++k) {
      add(tensors, {&move.sources[k].view, sources[source++], {}, i, static_cast<std::int32_t>(k)}, moves);
    }
  }
  // Which indices are one element does not depend on addresses: the plan was refused for that.
  require_pairs_apart(tensors, moves);
}

TMAJIT_END
