#include "operations/shared/make.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

Operation operation::split(List<Tensor> destinations, const Tensor& source, std::int64_t along) {
  const std::uint32_t axis = check_parts(source, "the source", destinations, "destination", along);
  Operation cut{.moves = {}, .destinations = {destinations.begin(), destinations.end()}, .sources = {source}};
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const std::uint64_t count = destinations[i].view.shape[axis];
    const Tensor part = part_of(source, axis, first, count);
    cut.moves.push_back(
        {destinations[i],
         {broadcast(part, shape_of(destinations[i]), fmt::format("part {} of the source", i))}});
    first += count;
  }
  return cut;
}

TMAJIT_END
