#include "operations/shared/make.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

Operation operation::concat(const Tensor& destination, List<Tensor> sources, std::int64_t along) {
  const std::uint32_t axis = check_parts(destination, "the destination", sources, "source", along);
  Operation joined{.moves = {}, .destinations = {destination}, .sources = {sources.begin(), sources.end()}};
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::uint64_t count = sources[i].view.shape[axis];
    const Tensor part = part_of(destination, axis, first, count);
    joined.moves.push_back({part, {broadcast(sources[i], shape_of(part), fmt::format("source {}", i))}});
    first += count;
  }
  return joined;
}

TMAJIT_END
