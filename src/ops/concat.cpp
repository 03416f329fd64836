#include "ops/given_tensors.hpp"
#include "ops/views.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <array>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

/// Throws unless `whole` has the dimension `axis`, and every part as many dimensions whose extents along the
/// axis add up to its.
void check_parts(const Tensor& whole, std::string_view whole_name, std::span<const Tensor> parts,
                 std::string_view part_name, std::uint32_t axis) {
  const std::size_t rank = extents(whole.view, whole_name).size();
  if (axis >= rank) {
    refuse(fmt::format("axis {} of {}, which has {} dimensions; {}", axis, whole_name, rank,
                       rank == 0 ? std::string("one of none cannot be put together of parts")
                                 : fmt::format("0 to {} exist", rank - 1)));
  }
  if (parts.empty()) refuse(fmt::format("no {}; at least one is needed", part_name));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string name = fmt::format("{} {}", part_name, i);
    if (extents(parts[i].view, name).size() != rank) {
      refuse(fmt::format("{} has {} dimensions, {} {}; as many are needed", name, parts[i].view.rank,
                         whole_name, rank));
    }
    if (__builtin_add_overflow(sum, parts[i].view.shape[axis], &sum)) {
      refuse(fmt::format("the {}s have more than 2^64 elements along axis {}; {} has {}", part_name, axis,
                         whole_name, whole.view.shape[axis]));
    }
  }
  if (sum != whole.view.shape[axis]) {
    refuse(fmt::format("the {}s have {} elements along axis {}, {} has {}; both must be the same", part_name,
                       sum, axis, whole_name, whole.view.shape[axis]));
  }
}

/// What lies in `whole` from `first` on along `axis`, `count` elements of it.
Tensor part_of(const Tensor& whole, std::uint32_t axis, std::uint64_t first, std::uint64_t count) {
  std::array<Slice, max_view_rank> slices{};
  slices[axis] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(first + count), 1};
  return sliced(whole, std::span(slices).first(axis + 1));
}

}  // namespace

MovePlan plan_concat(Runtime& runtime, const Tensor& destination, std::span<const Tensor> sources,
                     std::uint32_t axis) {
  check_parts(destination, "the destination", sources, "source", axis);
  std::vector<Move> moves;
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::uint64_t count = sources[i].view.shape[axis];
    const Tensor part = part_of(destination, axis, first, count);
    const auto shape = std::span(part.view.shape).first(part.view.rank);
    moves.push_back({part, {broadcast(sources[i], shape, fmt::format("source {}", i))}});
    first += count;
  }
  return plan_moves(runtime, moves, GivenTensors::of(moves, {&destination, 1}, sources));
}

MovePlan plan_split(Runtime& runtime, std::span<const Tensor> destinations, const Tensor& source,
                    std::uint32_t axis) {
  check_parts(source, "the source", destinations, "destination", axis);
  std::vector<Move> moves;
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const std::uint64_t count = destinations[i].view.shape[axis];
    const auto shape = std::span(destinations[i].view.shape).first(destinations[i].view.rank);
    moves.push_back(
        {destinations[i],
         {broadcast(part_of(source, axis, first, count), shape, fmt::format("part {} of the source", i))}});
    first += count;
  }
  return plan_moves(runtime, moves, GivenTensors::of(moves, destinations, {&source, 1}));
}

TMAJIT_END
