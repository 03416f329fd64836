#include "plan/engine_tiles.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t chunk_bytes = 16;
constexpr std::uint32_t panel_bytes = 128;
constexpr std::uint32_t longest_part = max_box * 8;  // bytes

struct RowsTuning {
  std::uint32_t tile_bytes;
  std::uint32_t stages;
};
constexpr RowsTuning rows_tunings[] = {{16384, 4}, {32768, 2}, {16384, 2}, {8192, 4}, {4096, 2}};

struct TransposeTuning {
  std::uint32_t destination_run;  // bytes of a tile
  std::uint32_t source_run;
  std::uint32_t stages;
};
constexpr TransposeTuning transpose_tunings[] = {{256, 256, 1}, {256, 128, 1}, {256, 128, 2},
                                                 {512, 128, 1}, {128, 256, 1}, {128, 128, 2}};

void add(std::vector<MoveCandidate>& candidates, const MoveProblem& problem, const MoveKernel& kernel) {
  const bool takes_destination =
      kernel.method == MoveMethod::engine_transpose || engine_map(kernel, problem, 0);
  if (!takes_destination || !engine_map(kernel, problem, 1)) return;
  if (kernel.shared_bytes() > max_shared_bytes_per_cta) return;
  const auto same = [&](const MoveCandidate& other) { return other.kernel == kernel; };
  if (std::ranges::none_of(candidates, same)) candidates.push_back({kernel, problem.nest});
}

/// A box of about so many bytes: as much of the row as fits, then of the dimensions before it.
MoveKernel rows_kernel(const MoveProblem& problem, const RowsTuning& tuning) {
  const CanonicalNest& nest = problem.nest;
  MoveKernel kernel{.method = MoveMethod::engine_rows,
                    .element_bytes = problem.element_bytes(0),
                    .rank = nest.rank,
                    .threads = 32,
                    .stages = tuning.stages};
  const std::uint32_t row = nest.rank - 1;
  const std::uint64_t bytes =
      std::min<std::uint64_t>(sat_mul(nest.shape[row], kernel.element_bytes), tuning.tile_bytes);
  const std::uint64_t parts = ceil_div(bytes, longest_part);
  const std::uint64_t part = round_up(ceil_div(bytes, parts), chunk_bytes);
  kernel.box[row] = static_cast<std::uint32_t>(parts * part / kernel.element_bytes);
  std::uint64_t left = std::max<std::uint64_t>(tuning.tile_bytes / (parts * part), 1);
  // Dimensions that share one in the map have single indices.
  std::uint32_t boxes = nest.rank > max_map_rank ? max_map_rank - 2 : max_map_rank - 1;
  for (std::uint32_t d = row; d-- > 0;) {
    const std::uint64_t most = std::min<std::uint64_t>(left, max_box);
    kernel.box[d] = boxes > 0 ? static_cast<std::uint32_t>(std::min(nest.shape[d], most)) : 1U;
    if (kernel.box[d] > 1) --boxes;
    left /= kernel.box[d];
  }
  return kernel;
}

}  // namespace

std::vector<MoveCandidate> engine_rows_candidates(const MoveProblem& problem) {
  std::vector<MoveCandidate> candidates;
  const std::uint64_t row_bytes =
      sat_mul(problem.nest.shape[problem.nest.rank - 1], problem.element_bytes(0));
  if (row_bytes % chunk_bytes != 0) return candidates;  // a store would write past its end
  for (const RowsTuning& tuning : rows_tunings) add(candidates, problem, rows_kernel(problem, tuning));
  return candidates;
}

std::vector<MoveCandidate> engine_transpose_candidates(const MoveProblem& problem, std::uint32_t column) {
  std::vector<MoveCandidate> candidates;
  for (const TransposeTuning& tuning : transpose_tunings) {
    MoveKernel kernel =
        transpose_candidate(problem, column,
                            {.destination_run = tuning.destination_run, .source_run = tuning.source_run})
            .kernel;
    const std::uint32_t vector = chunk_bytes / kernel.element_bytes;
    if (kernel.staggered || kernel.alignment < chunk_bytes ||
        problem.nest.shape[kernel.rank - 1] % vector != 0) {
      break;  // none of the others either
    }
    const std::uint32_t line = kernel.box[column] * kernel.element_bytes;
    if (line > panel_bytes && line % panel_bytes != 0) continue;
    kernel.method = MoveMethod::engine_transpose;
    kernel.whole = false;
    kernel.stages = tuning.stages;
    kernel.threads = std::min(kernel.threads, 256U);
    add(candidates, problem, kernel);
  }
  return candidates;
}

TMAJIT_END
