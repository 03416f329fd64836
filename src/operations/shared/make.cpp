#include "operations/shared/make.hpp"

#include "spec/counted.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <optional>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

void refuse_destinations(std::string_view operation, std::size_t given,
                         std::span<const std::string_view> needed) {
  refuse("{}: {}; needed {} {}: {}", operation, counted(given, "destination"),
         needed.size() == 1 ? "is" : "are", needed.size(), fmt::join(needed, ", "));
}

std::uint32_t check_parts(const Tensor& whole, std::string_view whole_name, std::span<const Tensor> parts,
                          std::string_view part_name, std::int64_t given_axis) {
  const std::size_t rank = extents(whole.view, whole_name).size();
  const std::optional<std::uint32_t> dimension = dimension_of(given_axis, rank);
  if (!dimension) {
    refuse(
        "axis {} of {}, which has {}; {}", given_axis, whole_name, counted(rank, "dimension"),
        rank == 0 ? std::string("a scalar cannot be put together from parts") : "legal: " + legal_axes(rank));
  }
  const std::uint32_t axis = *dimension;
  if (parts.empty()) refuse("no {}; at least one is needed", part_name);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string name = fmt::format("{} {}", part_name, i);
    if (extents(parts[i].view, name).size() != rank) {
      refuse("{} has {}, {} {}; as many are needed", name, counted(parts[i].view.rank, "dimension"),
             whole_name, rank);
    }
    if (__builtin_add_overflow(sum, parts[i].view.shape[axis], &sum)) {
      refuse("the {}s have more than 2^64 elements along axis {}; {} has {}", part_name, axis, whole_name,
             whole.view.shape[axis]);
    }
  }
  if (sum != whole.view.shape[axis]) {
    refuse("the {}s have {} along axis {}, {} has {}; both must be the same", part_name,
           counted(sum, "element"), axis, whole_name, whole.view.shape[axis]);
  }
  return axis;
}

std::vector<Tensor> with_axis(std::span<const Tensor> parts, std::string_view part_name, std::uint32_t axis,
                              std::size_t rank, std::string_view whole_name, std::string_view rule) {
  std::vector<Tensor> expanded(parts.begin(), parts.end());
  for (std::size_t i = 0; i < expanded.size(); ++i) {
    TensorView& view = expanded[i].view;
    const std::string name = fmt::format("{} {}", part_name, i);
    if (extents(view, name).size() + 1 != rank) {
      refuse("{} has {}, {} {}; {} has one fewer", name, counted(view.rank, "dimension"), whole_name, rank,
             rule);
    }
    std::shift_right(view.shape.begin() + axis, view.shape.end(), 1);
    std::shift_right(view.strides.begin() + axis, view.strides.end(), 1);
    view.shape[axis] = 1;
    view.strides[axis] = 0;
    ++view.rank;
  }
  return expanded;
}

Tensor part_of(const Tensor& whole, std::uint32_t axis, std::uint64_t first, std::uint64_t count) {
  std::array<Slice, max_view_rank> slices{};
  slices[axis] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(first + count), 1};
  return sliced(whole, std::span(slices).first(axis + 1));
}

std::span<const std::uint64_t> shape_of(const Tensor& destination) {
  return extents(destination.view, "the destination");
}

Operation one_move(Move move, std::span<const Tensor> sources) {
  Operation operation{
      .moves = {}, .destinations = {move.destination}, .sources = {sources.begin(), sources.end()}};
  operation.moves.push_back(std::move(move));
  return operation;
}

Operation Operation::of(std::vector<Move> moves) {
  Operation operation{.moves = std::move(moves), .destinations = {}, .sources = {}};
  for (const Move& move : operation.moves) {
    operation.destinations.push_back(move.destination);
    operation.sources.insert(operation.sources.end(), move.sources.begin(), move.sources.end());
  }
  return operation;
}

TMAJIT_END
