#include "families/engine_reduce/engine_reduce_layout.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t least_chunk_bytes = 2048;  // shorter ones cost the copy engine more than their bytes
constexpr std::uint64_t most_numbers = std::uint64_t{1} << 30;  // that Divider counts, and a little less
constexpr std::uint32_t granule = 16;
constexpr std::uint32_t slot_alignment = 128;
constexpr std::uint32_t warp = 32;
constexpr std::uint64_t steps_of_part = 4;  // that are worth what parts cost to meet

bool is_reduced(const Problem& problem, std::uint32_t d) {
  return problem.nest.operand[0].strides[d] == 0;
}

/// The nest's dimensions by the source's strides, the nearest first; none if an index of one stays or goes
/// back.
std::optional<std::vector<std::uint32_t>> nearest_first(const CanonicalNest& nest) {
  std::vector<std::uint32_t> order(nest.rank);
  std::iota(order.begin(), order.end(), 0U);
  const auto& strides = nest.operand[1].strides;
  std::ranges::sort(order, {}, [&](std::uint32_t d) { return strides[d]; });
  if (order.empty() || strides[order.front()] != 1) return std::nullopt;
  return order;
}

/// Takes dimensions into the chunk, as many as it holds, and the side of the next; says how many dimensions
/// have to do with it.
std::size_t cut_chunk(EngineReductionLayout& layout, const Problem& problem,
                      const std::vector<std::uint32_t>& order, std::uint64_t most) {
  const CanonicalNest& nest = problem.nest;
  layout.inner = nest.rank;
  std::uint64_t most_outputs = std::uint64_t{engine_reduction_threads} * most_engine_results;
  for (std::size_t n = 0;; ++n) {
    const std::uint32_t d = order[n];
    const std::uint64_t extent = nest.shape[d];
    const bool reduced = is_reduced(problem, d);
    const bool has_next =
        n + 1 < order.size() &&
        nest.operand[1].strides[order[n + 1]] == static_cast<std::int64_t>(sat_mul(layout.block, extent));
    const bool fits =
        sat_mul(layout.block, extent) <= most && (reduced || layout.outputs * extent <= most_outputs);
    // A second dimension that is reduced can only be the side.
    if (has_next && fits && (!reduced || layout.inner == nest.rank)) {
      layout.block *= extent;
      if (!reduced) layout.outputs *= extent;
      if (reduced) {
        layout.inner = d;
        layout.inner_extent = extent;
        layout.near = layout.outputs;
      } else {
        layout.own.push_back({.d = d, .extent = extent});
      }
      continue;
    }
    layout.side = d;
    layout.side_is_kept = !reduced;
    std::uint64_t length = std::clamp<std::uint64_t>(most / layout.block, 1, extent);
    if (!reduced) length = std::min(length, std::max<std::uint64_t>(most_outputs / layout.outputs, 1));
    // Chunks of one length, as far as that goes.
    layout.side_length = ceil_div(extent, ceil_div(extent, length));
    if (!reduced) {
      layout.outputs *= layout.side_length;
      layout.own.push_back({.d = d, .extent = layout.side_length});
    }
    if (layout.inner == nest.rank) layout.near = layout.outputs;
    return n + 1;
  }
}

void count_steps(EngineReductionLayout& layout, const Problem& problem,
                 const std::vector<std::uint32_t>& order, std::size_t of_chunk) {
  const CanonicalNest& nest = problem.nest;
  const EngineReductionStep chunks{.d = layout.side,
                                   .extent = ceil_div(nest.shape[layout.side], layout.side_length),
                                   .elements = layout.side_length};
  (layout.side_is_kept ? layout.tiles : layout.steps).push_back(chunks);
  for (std::size_t n = of_chunk; n < order.size(); ++n) {
    (is_reduced(problem, order[n]) ? layout.steps : layout.tiles)
        .push_back({.d = order[n], .extent = nest.shape[order[n]]});
  }
  for (const auto& step : layout.tiles) layout.tile_count = sat_mul(layout.tile_count, step.extent);
  for (const auto& step : layout.steps) layout.step_count = sat_mul(layout.step_count, step.extent);
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    if (is_reduced(problem, d)) layout.count = sat_mul(layout.count, nest.shape[d]);
  }
}

/// Threads that share an output and lie side by side: so many that all threads have something to do, and that
/// those of a warp meet all banks, where outputs begin `inner_extent` elements apart.
std::uint64_t threads_of_row(std::uint64_t outputs, std::uint64_t row) {
  const std::uint64_t to_fill =
      std::bit_floor(std::max<std::uint64_t>(engine_reduction_threads / outputs, 1));
  const std::uint64_t to_meet_banks = std::min<std::uint64_t>(row & (~row + 1), warp);
  const std::uint64_t wanted = std::max(to_fill, to_meet_banks);
  return std::min<std::uint64_t>(std::min<std::uint64_t>(wanted, std::bit_ceil(row)),
                                 engine_reduction_threads);
}

/// How many threads have which outputs; whether they can.
bool choose_team(EngineReductionLayout& layout, const CanonicalNest& nest) {
  ReductionTeamShape& team = layout.team;
  const bool has_inner = layout.inner < nest.rank;
  const std::uint64_t shared = has_inner ? layout.inner_extent : layout.side_length;
  // Nothing comes together in a chunk: threads do better with rows as they are.
  if (!has_inner && layout.side_is_kept) return false;
  const bool row_is_reduced = has_inner ? layout.near == 1 : layout.outputs == 1;
  team.columns = !row_is_reduced;
  if (row_is_reduced) {
    team.phases = static_cast<std::uint32_t>(threads_of_row(layout.outputs, shared));
    const std::uint64_t side_by_side = engine_reduction_threads / team.phases;
    const std::uint64_t turns = std::bit_ceil(ceil_div(layout.outputs, side_by_side));
    team.results = static_cast<std::uint32_t>(turns);
  } else {
    team.results = static_cast<std::uint32_t>(
        std::bit_ceil(ceil_div(layout.outputs, std::uint64_t{engine_reduction_threads})));
  }
  if (team.results > most_engine_results) return false;
  team.owners = static_cast<std::uint32_t>(ceil_div(layout.outputs, team.results));
  if (!row_is_reduced) {
    team.phases = team.results > 1 ? 1
                                   : static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                         engine_reduction_threads / team.owners, shared));
  }
  return true;
}

/// CTAs that share tiles, where there are too few of these: as many as all SMs hold.
void choose_parts(EngineReductionLayout& layout, std::uint64_t together) {
  const std::uint64_t most = std::max<std::uint64_t>(layout.step_count / steps_of_part, 1);
  std::uint64_t least = ~std::uint64_t{0};
  // Chunks that the busiest CTA does, for each number of rounds that CTAs take turns in.
  for (std::uint64_t rounds = 1; rounds <= 4; ++rounds) {
    const std::uint64_t wanted = std::clamp<std::uint64_t>(rounds * together / layout.tile_count, 1, most);
    const std::uint64_t busiest =
        ceil_div(layout.tile_count * wanted, together) * ceil_div(layout.step_count, wanted);
    if (busiest >= least) continue;
    least = busiest;
    layout.team.parts = static_cast<std::uint32_t>(wanted);
  }
  layout.team.tiles = layout.tile_count;
  layout.ctas = std::min(layout.units(), together);
}

}  // namespace

std::uint32_t EngineReductionLayout::threads() const noexcept {
  return static_cast<std::uint32_t>(round_up(std::uint64_t{team.owners} * team.phases, warp)) +
         loading_threads;
}

std::optional<EngineReductionLayout> engine_reduction_layout(const Problem& problem,
                                                             const EngineReductionTuning& tuning) {
  if (problem.sources() != 1 || problem.interleaved[1]) return std::nullopt;
  const auto order = nearest_first(problem.nest);
  if (!order) return std::nullopt;
  const std::uint64_t element = problem.element_bytes(1);
  EngineReductionLayout layout;
  const std::size_t of_chunk = cut_chunk(layout, problem, *order, tuning.chunk_bytes / element);
  const std::uint64_t bytes = layout.chunk() * element;
  if (bytes < least_chunk_bytes) return std::nullopt;
  count_steps(layout, problem, *order, of_chunk);
  if (!choose_team(layout, problem.nest)) return std::nullopt;
  choose_parts(layout, std::uint64_t{problem.sm_count} * tuning.ctas_per_sm);
  // All that is counted in 32 bits.
  if (layout.units() >= most_numbers || layout.step_count >= most_numbers ||
      problem.nest.shape[layout.side] >= most_numbers) {
    return std::nullopt;
  }
  layout.stages = tuning.stages;
  layout.slot_bytes = static_cast<std::uint32_t>(round_up(bytes + 2 * granule, slot_alignment));
  return layout;
}

TMAJIT_END
