#include "operations/shared/make.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
Operation operation::concat(const Tensor& destination, List<Tensor> sources, std::int64_t along,
                            bool new_axis) {
  std::span<const Tensor> parts = sources;
  std::vector<Tensor> expanded;
  const std::size_t rank = shape_of(destination).size();
  // check_parts() rejects an axis that the destination does not have.
  if (const auto made = dimension_of(along, rank); made && new_axis)
    parts = expanded =
        with_axis(sources, "source", *made, rank, "the destination", "with a new axis a source");
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
