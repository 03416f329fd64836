#include "plan/gather_plan.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t unit = 16;  // bytes
constexpr std::uint32_t lanes = 32;

std::uint32_t power_of_two_below(std::uint32_t value) {
  std::uint32_t power = 1;
  while (power * 2 <= value) power *= 2;
  return power;
}

/// Lanes of a warp along a run. Runs side by side meet other banks than what lies along them; stores want 128
/// bytes that follow each other.
std::uint32_t lanes_along(std::uint32_t slots, std::uint32_t runs) {
  const std::uint32_t across = std::min(power_of_two_below(runs), 4U);
  const std::uint32_t wanted = lanes / across;
  std::uint32_t along = 4;
  while (along < wanted && along < slots) along *= 2;
  return along;
}

/// How many of a CTA's warps go side by side along a run of `groups` times what a warp stores of it: what
/// takes the fewest steps, then what changes places least often.
std::uint32_t best_warps_along(std::uint32_t warps, std::uint32_t groups, std::uint32_t runs) {
  std::uint32_t best = 1;
  std::uint64_t least = UINT64_MAX;
  for (std::uint32_t along = 1; along <= warps; ++along) {
    if (warps % along != 0) continue;
    const std::uint64_t steps = ceil_div(groups, along) * ceil_div(runs, warps / along);
    if (steps > least) continue;
    least = steps;
    best = along;
  }
  return best;
}

}  // namespace

GatherLayout::GatherLayout(const MoveKernel& kernel) noexcept {
  const SourcePlan& plan = kernel.source[0];
  for (std::uint32_t d = 0; d < kernel.rank; ++d) {
    (d < kernel.run_dimension ? runs : run_elements) *= kernel.box[d];
    line_count *= plan.lines[d];
  }
  const bool aligned = kernel.alignment == unit;
  const auto most_before = aligned ? 0 : kernel.chunk - 1;
  slots = static_cast<std::uint32_t>(ceil_div(std::uint64_t{run_elements} + most_before, kernel.chunk));
  if (kernel.part != 0) {
    const std::uint32_t in_part =
        run_elements / kernel.box[kernel.run_dimension] * kernel.part / kernel.chunk;
    parts = static_cast<std::uint32_t>(ceil_div(slots, in_part));
    slots = in_part;
  }
  slots_along = lanes_along(slots, runs * parts);
  const auto groups = static_cast<std::uint32_t>(ceil_div(slots, slots_along));
  const auto at_once = static_cast<std::uint32_t>(ceil_div(runs * parts, lanes / slots_along));
  warps_along = best_warps_along(std::max(kernel.threads / lanes, 1U), groups, at_once);
  // Runs that begin differently read the table from elsewhere: it is one piece, with a vector more before it.
  // Else the places of a warp's slots lie an odd number of words apart, in different banks.
  places = (kernel.alike ? slots : slots + 1) * kernel.chunk;
  place_pitch = kernel.alike && kernel.chunk > 2 ? kernel.chunk + 2 : kernel.chunk;

  line_bytes = plan.pitch;
  std::uint64_t end = line_bytes + (plan.alignment < unit ? unit - 1 : 0);
  for (std::uint32_t d = 0; d < kernel.rank; ++d) {
    if (plan.lines[d] == 1) continue;
    end += std::uint64_t{plan.lines[d] - 1} * plan.image_step[d];
    if (d == kernel.skewed) end += std::uint64_t{(plan.lines[d] - 1) / plan.skew} * unit;
  }
  image_bytes = sat_cast<std::uint32_t>(round_up(end, unit));
  const std::uint64_t table = ceil_div(places, kernel.chunk) * place_pitch * 2;
  bytes = sat_cast<std::uint32_t>(sat_add(image_bytes, round_up(table, unit)));
}

TMAJIT_END
