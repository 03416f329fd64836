#include "operations/shared/make.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

Operation operation::split(List<Tensor> destinations, const Tensor& source, std::int64_t along,
                           bool drop_axis) {
  std::span<const Tensor> parts = destinations;
  std::vector<Tensor> expanded;
  const std::size_t rank = extents(source.view, the_source).size();
  // check_parts() rejects an axis that the source does not have.
  if (const auto dropped = dimension_of(along, rank); dropped && drop_axis)
    parts = expanded =
        with_axis(destinations, "destination", *dropped, rank, the_source, "without the axis a destination");
  const std::uint32_t axis = check_parts(source, the_source, parts, "destination", along);
  Operation cut{.moves = {}, .destinations = {destinations.begin(), destinations.end()}, .sources = {source}};
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::uint64_t count = parts[i].view.shape[axis];
    const Tensor part = part_of(source, axis, first, count);
    cut.moves.push_back(
        {parts[i], {broadcast(part, shape_of(parts[i]), fmt::format("part {} of the source", i))}});
    first += count;
  }
  return cut;
}

TMAJIT_END
