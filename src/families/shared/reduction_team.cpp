#include "families/shared/reduction_team.hpp"

#include "families/shared/reducer_name.hpp"
#include "families/shared/views.hpp"
#include "spec/saturate.hpp"

#include <tmajit/device_kernels.hpp>

#include <algorithm>
#include <cmath>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::uint32_t groups_of(const ReductionTeamShape& shape) noexcept {
  return static_cast<std::uint32_t>(ceil_div(shape.parts, parts_of_group(shape)));
}

}  // namespace

std::string reducer_fact(ReductionOp op) {
  return fmt::format(
      "template <class Value>\nstruct {0};\ntemplate <class Value>\nusing Reducer = {0}<Value>;\n",
      reducer_name(op));
}

std::uint32_t max_state_bytes(ReductionOp op) noexcept {
  return op == ReductionOp::arg_min || op == ReductionOp::arg_max ? 16 : 8;
}

std::uint32_t parts_of_group(const ReductionTeamShape& shape) noexcept {
  // A second level of groups costs another fence and another atomic, which take as long as a few reads.
  if (shape.parts <= 4 * parts_at_once * shape.threads_per_item) return shape.parts;
  const auto root = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(shape.parts))));
  const std::uint32_t group =
      static_cast<std::uint32_t>(round_up(root, std::min(shape.threads_per_item, root)));
  const std::uint64_t counts = shape.tiles * (ceil_div(shape.parts, group) + 1);
  return counts * sizeof(std::uint32_t) <= scratch_zeros ? group : shape.parts;
}

std::uint32_t waits_of_parts(const ReductionTeamShape& shape) noexcept {
  if (shape.parts == 1) return 0;
  constexpr std::uint32_t sync_waits = 3;  // a fence, an atomic and another fence
  const std::uint64_t at_once = std::uint64_t{shape.threads_per_item} * parts_at_once;
  const std::uint32_t group = parts_of_group(shape);
  const auto waits = [&](std::uint32_t parts) {
    return sync_waits + static_cast<std::uint32_t>(ceil_div(parts, at_once));
  };
  return waits(group) + (group < shape.parts ? waits(groups_of(shape)) : 0);
}

params::ReductionTeam reduction_team(const ReductionTeamShape& shape) {
  return {.partials = scratch_zeros,
          .inner_threads =
              make_divider<params::Divider>(shape.columns ? shape.tile_items : shape.threads_per_item),
          .threads_per_item = shape.threads_per_item,
          .tile_items = shape.tile_items,
          .parts = shape.parts,
          .group = parts_of_group(shape),
          .groups = groups_of(shape)};
}

std::uint32_t scratch_bytes(const ReductionTeamShape& shape, ReductionOp op) {
  return sat_cast<std::uint32_t>(scratch_zeros + shape.tiles * shape.parts * shape.tile_items *
                                                     shape.results * max_state_bytes(op));
}

std::uint32_t combining_bytes(const ReductionTeamShape& shape, ReductionOp op) noexcept {
  const std::uint32_t states = shape.results * max_state_bytes(op);
  if (shape.columns)
    return shape.threads_per_item == 1 ? 0 : (shape.threads_per_item + 1) / 2 * shape.tile_items * states;
  return static_cast<std::uint32_t>(ceil_div(std::uint64_t{shape.tile_items} * shape.threads_per_item, 32)) *
         states;
}

TMAJIT_END
