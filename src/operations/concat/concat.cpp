#include "operations/shared/make.hpp"
#include "spec/counted.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The sources with a further dimension, of extent 1, which is dimension `axis` of the destination.
std::vector<Tensor> with_axis(std::span<const Tensor> sources, std::uint32_t axis, std::size_t rank) {
  std::vector<Tensor> parts(sources.begin(), sources.end());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TensorView& view = parts[i].view;
    if (extents(view, fmt::format("source {}", i)).size() + 1 != rank) {
      refuse("source {} has {}, the destination {}; with a new axis a source has one fewer", i,
             counted(view.rank, "dimension"), rank);
    }
    std::shift_right(view.shape.begin() + axis, view.shape.end(), 1);
    std::shift_right(view.strides.begin() + axis, view.strides.end(), 1);
    view.shape[axis] = 1;
    view.strides[axis] = 0;
    ++view.rank;
  }
  return parts;
}

}  // namespace

Operation operation::concat(const Tensor& destination, List<Tensor> sources, std::int64_t along,
                            bool new_axis) {
  std::span<const Tensor> parts = sources;
  std::vector<Tensor> expanded;
  const std::size_t rank = shape_of(destination).size();
  // check_parts() rejects an axis that the destination does not have.
  if (const auto made = dimension_of(along, rank); made && new_axis)
    parts = expanded = with_axis(sources, *made, rank);
  const std::uint32_t axis = check_parts(destination, "the destination", parts, "source", along);
  Operation joined{.moves = {}, .destinations = {destination}, .sources = {sources.begin(), sources.end()}};
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint64_t count = parts[i].view.shape[axis];
    const Tensor part = part_of(destination, axis, first, count);
    joined.moves.push_back({part, {broadcast(parts[i], shape_of(part), fmt::format("source {}", i))}});
    first += count;
  }
  return joined;
}

TMAJIT_END
