#include "operations/shared/indexed_reference.hpp"

#include "reference/scalar.hpp"

#include <algorithm>
#include <variant>

namespace reference {
namespace {

/// An element of an index tensor as a place in its dimension; a number below 0 or of at least `extent` is out
/// of range.
std::int64_t place_of(tmajit::ElementType type, const std::byte* element, std::int64_t extent) {
  if (type == tmajit::ElementType::u64) {
    const auto number = std::get<std::uint64_t>(decode(type, element));
    return number < static_cast<std::uint64_t>(extent) ? static_cast<std::int64_t>(number) : extent;
  }
  if (type == tmajit::ElementType::u32) return std::get<std::uint32_t>(decode(type, element));
  const std::int64_t number = type == tmajit::ElementType::i32
                                  ? std::get<std::int32_t>(decode(type, element))
                                  : std::get<std::int64_t>(decode(type, element));
  return number < 0 ? number + extent : number;
}

}  // namespace

std::optional<Index> selected_index(const IndexedMove& move, const Index& at) {
  const std::uint32_t rank = move.selected.view.rank;
  const std::int64_t given = move.axes[0];
  const auto first = static_cast<std::uint32_t>(given < 0 ? given + rank : given);
  const auto count = static_cast<std::uint32_t>(move.axes.size());
  // The dimensions of the moved tensor that come from the index tensors end here.
  const std::uint32_t end = move.along ? rank : move.moved.view.rank - (rank - first - count);
  Index selected{};
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (d >= first && d < first + count) continue;
    const std::uint32_t from = d < first || move.along ? d : d - first - count + end;
    selected.at(d) = move.selected.view.shape.at(d) == 1 ? 0 : at.at(from);
  }
  for (std::uint32_t k = 0; k < (move.flat ? 1 : count); ++k) {
    const tmajit::Tensor& index = move.index[k];
    const std::uint32_t dims = index.view.rank - (move.term ? 1 : 0);
    Index own{};
    for (std::uint32_t d = 0; d < dims; ++d)
      own.at(d) = index.view.shape.at(d) == 1 ? 0 : at.at(end - dims + d);
    if (move.term) own.at(dims) = *move.term;
    // Flat axes are numbered together.
    const std::uint32_t last = move.flat ? first + count - 1 : first + k;
    std::uint64_t extent = 1;
    for (std::uint32_t d = first + k; d <= last; ++d) extent *= move.selected.view.shape.at(d);
    const auto limit = static_cast<std::int64_t>(extent);
    std::int64_t place = place_of(index.view.type, element_at(index, offset_of(index.view, own)), limit);
    if (move.clamps) place = std::clamp<std::int64_t>(place, 0, limit - 1);
    if (place < 0 || place >= limit) return std::nullopt;
    auto left = static_cast<std::uint64_t>(place);
    for (std::uint32_t d = last + 1; d-- > first + k; left /= move.selected.view.shape.at(d))
      selected.at(d) = left % move.selected.view.shape.at(d);
  }
  return selected;
}

std::uint64_t position_in(const Part& part, std::uint32_t rank, const Index& index) {
  std::uint64_t position = 0;
  for (std::uint32_t d = 0; d < rank; ++d)
    position = position * part.count.at(d) + (index.at(d) - part.first.at(d));
  return position;
}

}  // namespace reference
