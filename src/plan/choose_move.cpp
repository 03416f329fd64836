#include "plan/engine_tiles.hpp"
#include "plan/gather_plan.hpp"
#include "plan/move_kernel.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <span>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;
constexpr std::uint32_t narrow_bytes = 8;

/// Sides of tiles in bytes, the destination's first. 256 is best for what fills the chip many times over;
/// less for what does not, or where a side meets many rows that are far apart.
constexpr MoveTuning block_tunings[] = {
    {.destination_run = 256, .source_run = 256}, {.destination_run = 128, .source_run = 256},
    {.destination_run = 256, .source_run = 128}, {.destination_run = 512, .source_run = 128},
    {.destination_run = 128, .source_run = 512}, {.destination_run = 512, .source_run = 256},
    {.destination_run = 256, .source_run = 512}, {.destination_run = 128, .source_run = 128},
    {.destination_run = 64, .source_run = 128},  {.destination_run = 64, .source_run = 64},
    {.destination_run = 32, .source_run = 64},
};
/// Vectors of 8 bytes make blocks a quarter as large: more of them in flight where a tensor is small, and
/// kernels that compile sooner. Elements of 8 bytes are blocks by themselves, aligned wherever they begin.
constexpr MoveTuning narrow_tunings[] = {
    {.destination_run = 128, .source_run = 128, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 128, .vector_bytes = 8},
    {.destination_run = 128, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 32, .vector_bytes = 8},
    {.destination_run = 32, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 32, .source_run = 32, .vector_bytes = 8},
};
/// Of registers alone.
constexpr MoveTuning direct_tunings[] = {
    {.destination_run = 256, .source_run = 256},
    {.destination_run = 128, .source_run = 128},
    {.destination_run = 128, .source_run = 64},
    {.destination_run = 128, .source_run = 128, .vector_bytes = 8},
    {.destination_run = 128, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 32, .vector_bytes = 8},
};
constexpr std::size_t most_candidates = 48;        // for one problem: each takes kilobytes
constexpr std::uint64_t least_ordered = 16 << 20;  // bytes: of less, all tiles are under way at once
constexpr std::size_t ordered_tunings = 2;         // the first of block_tunings
constexpr MoveTuning row_tunings[] = {
    {.source_run = 0, .threads = 128, .turns = 2}, {.source_run = 0, .threads = 256, .turns = 1},
    {.source_run = 0, .threads = 256, .turns = 2}, {.source_run = 0, .threads = 512, .turns = 1},
    {.source_run = 0, .threads = 256, .turns = 4}, {.source_run = 0, .threads = 128, .turns = 4},
    {.source_run = 0, .threads = 128, .turns = 1}, {.source_run = 0, .threads = 64, .turns = 1},
    {.source_run = 0, .threads = 32, .turns = 1},
};
/// Tiles that take several short rows from where they follow each other in the source.
constexpr MoveTuning short_row_tunings[] = {
    {.source_run = 512, .threads = 256, .turns = 1},
    {.source_run = 1024, .threads = 256, .turns = 1},
    {.source_run = 2048, .threads = 256, .turns = 1},
};

/// The dimension in which a source is contiguous; the rank if there is none.
std::uint32_t contiguous_dimension(const MoveProblem& problem, std::uint32_t operand) {
  const auto& strides = problem.nest.operand[operand].strides;
  return static_cast<std::uint32_t>(std::find(strides.begin(), strides.begin() + problem.nest.rank, 1) -
                                    strides.begin());
}

/// Whether bits move between views that are contiguous somewhere, in dimensions long enough for blocks.
bool moves_blocks(const MoveProblem& problem) {
  const std::uint32_t rank = problem.nest.rank;
  if (rank == 0 || !problem.expression.empty() || problem.nest.windowed) return false;
  return problem.nest.operand[0].strides[rank - 1] == 1 && contiguous_dimension(problem, 1) < rank;
}

bool is_aligned(const MoveProblem& problem, std::uint32_t column) {
  return problem.alignment(0, problem.nest.rank - 1) == vector_bytes &&
         problem.alignment(1, column) == vector_bytes;
}

/// Blocks are squares of 16 or 8 bytes a side; where a side is much shorter, most of a block would be empty.
bool is_worth_blocks(const MoveProblem& problem, std::uint32_t column, std::uint32_t bytes) {
  const std::uint64_t side = bytes / problem.element_bytes(0);
  const auto fills = [&](std::uint64_t extent) { return 2 * extent > side; };
  return fills(problem.nest.shape[column]) && fills(problem.nest.shape[problem.nest.rank - 1]);
}

/// A transpose with its tiles taken in other orders, where that makes a difference.
void add_orders(const MoveProblem& problem, MoveCandidate candidate, const auto& add) {
  if (problem.bytes_written() < least_ordered) return;
  MoveKernel& kernel = candidate.kernel;
  const auto usual = kernel.tile_dimensions();
  for (const TileOrder order : {TileOrder::source, TileOrder::square, TileOrder::grouped}) {
    kernel.tile_order = order;
    const bool groups =
        kernel.tile_group() > 1 && kernel.box[kernel.column] < problem.nest.shape[kernel.column];
    if (groups || kernel.tile_dimensions() != usual) add(candidate);
  }
}

/// Transposes by blocks, those of 16 bytes first, and of registers alone.
void add_transposes(const MoveProblem& problem, std::uint32_t column, const auto& add) {
  if (is_worth_blocks(problem, column, vector_bytes)) {
    for (const MoveTuning& tuning : block_tunings) add(transpose_candidate(problem, column, tuning));
    for (const MoveTuning& tuning : std::span(block_tunings).first(ordered_tunings)) {
      add_orders(problem, transpose_candidate(problem, column, tuning), add);
    }
  }
  if (problem.element_bytes(0) <= narrow_bytes) {
    for (const MoveTuning& tuning : narrow_tunings) add(transpose_candidate(problem, column, tuning));
  }
  for (const MoveTuning& tuning : direct_tunings) {
    if (tuning.vector_bytes < problem.element_bytes(0)) continue;
    MoveCandidate candidate = transpose_candidate(problem, column, tuning);
    if (!candidate.kernel.whole) continue;
    candidate.kernel.method = MoveMethod::direct_transpose;
    add(candidate);
  }
}

}  // namespace

bool takes_blocks(const MoveProblem& problem) noexcept {
  if (!moves_blocks(problem)) return false;
  const std::uint32_t column = contiguous_dimension(problem, 1);
  if (column == problem.nest.rank - 1) return false;
  // Elements that need no blocks of 8 bytes are worth any.
  const bool narrow =
      problem.element_bytes(0) < narrow_bytes && is_worth_blocks(problem, column, narrow_bytes);
  return narrow || is_worth_blocks(problem, column, vector_bytes);
}

std::vector<MoveCandidate> move_candidates(const MoveProblem& problem) {
  std::vector<MoveCandidate> candidates;
  candidates.reserve(most_candidates);
  const auto add = [&](const MoveCandidate& candidate) {
    const auto same = [&](const MoveCandidate& other) { return other.kernel == candidate.kernel; };
    if (std::ranges::none_of(candidates, same)) candidates.push_back(candidate);
  };
  const std::uint32_t rank = problem.nest.rank;
  const std::uint32_t column = contiguous_dimension(problem, 1);
  std::vector<MoveCandidate> gathers;
  if (takes_gather(problem)) gathers = gather_candidates(problem);
  // Rows that are short and begin anywhere: few of their vectors are whole.
  const bool gathers_first =
      rank > 0 && is_short(problem, rank - 1) && problem.alignment(0, rank - 1) < vector_bytes;
  if (takes_blocks(problem)) {
    if (gathers_first) std::ranges::for_each(gathers, add);
    add_transposes(problem, column, add);
    std::ranges::move(engine_transpose_candidates(problem, column), std::back_inserter(candidates));
    if (!gathers_first) std::ranges::for_each(gathers, add);
  } else if (moves_blocks(problem) && column == rank - 1 && is_aligned(problem, column)) {
    for (const MoveTuning& tuning : row_tunings) add(rows_candidate(problem, tuning));
    for (const MoveTuning& tuning : short_row_tunings) add(rows_candidate(problem, tuning));
    std::ranges::move(engine_rows_candidates(problem), std::back_inserter(candidates));
  } else {
    std::ranges::for_each(gathers, add);
    const MoveCandidate first = general_candidate(problem, {});
    add(first);
    if (first.kernel.has_image()) {
      for (const MoveTuning& tuning : block_tunings) add(general_candidate(problem, tuning));
    } else {
      for (const MoveTuning& tuning : row_tunings) add(general_candidate(problem, tuning));
    }
  }
  return candidates;
}

std::string shape_class(const MoveProblem& problem, const MoveKernel& kernel, int doublings) {
  const auto log = [](std::uint64_t n) { return static_cast<int>(std::bit_width(n | 1)) - 1; };
  const auto extent = [&](std::uint32_t d) { return d < problem.nest.rank ? problem.nest.shape[d] : 1; };
  std::string text = fmt::format("{} {}B rank {}", name(kernel.method), kernel.element_bytes, kernel.rank);
  if (kernel.staggered) text += " staggered";
  if (kernel.method == MoveMethod::general) {
    for (std::uint32_t i = 0; i < kernel.sources; ++i) {
      text += fmt::format(" {}:{}B", name(kernel.source[i].access), size_of(kernel.source[i].type));
    }
  }
  text += fmt::format(" row 2^{}", log(extent(kernel.rank - 1)));
  if (kernel.transposes() || kernel.has_image()) {
    text += fmt::format(" column 2^{}", log(extent(kernel.column)));
  }
  return text + fmt::format(" bytes 2^{}", log(problem.bytes_read() + problem.bytes_written()) + doublings);
}

TMAJIT_END
