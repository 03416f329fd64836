#include "plan/move_kernel.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;

std::uint32_t round_to(std::uint64_t extent, std::uint64_t unit, std::uint64_t most) {
  return static_cast<std::uint32_t>(std::min(round_up(extent, unit), most));
}

/// What a tile takes of an extent: `most` (a multiple of `unit`), or, where much of the last tile would be
/// empty, three quarters or half of it. So few choices, that most extents share their kernels.
std::uint32_t share_of(std::uint64_t extent, std::uint64_t most, std::uint64_t unit) {
  if (extent <= most) return static_cast<std::uint32_t>(round_up(extent, unit));
  const auto waste = [&](std::uint64_t side) { return round_up(extent, side) * 8 / extent; };
  std::uint64_t best = most;
  for (const std::uint64_t side : {most / 4 * 3 / unit * unit, most / 2 / unit * unit}) {
    if (side > 0 && waste(side) < waste(best)) best = side;
  }
  return static_cast<std::uint32_t>(best);
}

/// Grows the tile along an operand's memory until a run of it has `wanted` elements: its contiguous dimension
/// first, then, where the tile takes all of that, the dimension that goes on where it ends. Whole blocks of
/// the two dimensions that have them, whichever operand's memory it is.
void lengthen(MoveKernel& kernel, const CanonicalNest& nest, std::uint32_t operand,
              std::span<const std::uint32_t> order, std::uint64_t wanted) {
  const auto& strides = nest.operand[operand].strides;
  std::uint64_t run = 1;
  std::int64_t expected = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::uint32_t d = order[k];
    if (strides[d] != expected) return;
    const bool has_blocks = d + 1 == kernel.rank || d == kernel.column;
    const std::uint64_t unit = has_blocks ? kernel.chunk : 1;
    const std::uint64_t room = round_up(std::max<std::uint64_t>(wanted / run, 1), unit);
    kernel.box[d] = std::max(kernel.box[d], share_of(nest.shape[d], room, unit));
    run *= kernel.box[d];
    if (kernel.box[d] < nest.shape[d] || run >= wanted) return;
    expected *= static_cast<std::int64_t>(nest.shape[d]);
  }
}

/// The dimension that goes on where an operand's rows end; the last if there is none.
std::uint32_t after_row(const CanonicalNest& nest, std::uint32_t operand) {
  const auto& strides = nest.operand[operand].strides;
  const auto end = strides.begin() + nest.rank - 1;
  return static_cast<std::uint32_t>(
      std::find(strides.begin(), end, static_cast<std::int64_t>(nest.shape[nest.rank - 1])) -
      strides.begin());
}

}  // namespace

MoveCandidate rows_candidate(const MoveProblem& problem, const MoveTuning& tuning) {
  const CanonicalNest& nest = problem.nest;
  MoveKernel kernel{.method = MoveMethod::rows, .element_bytes = problem.element_bytes(0), .rank = nest.rank};
  const std::uint32_t unit = vector_bytes / kernel.element_bytes;
  std::uint64_t left = std::uint64_t{tuning.threads} * tuning.turns * unit;
  const auto take = [&](std::uint32_t d, std::uint64_t wanted) {
    const std::uint64_t most = std::max<std::uint64_t>(std::min(left, wanted), 1);
    kernel.box[d] = round_to(nest.shape[d], d + 1 == nest.rank ? unit : 1, most);
    left /= kernel.box[d];
  };
  const std::uint32_t row = nest.rank - 1;
  const std::uint32_t beside = after_row(nest, 1);
  take(row, left);
  if (beside < row) take(beside, tuning.source_run / (kernel.box[row] * kernel.element_bytes));
  for (std::uint32_t d = row; d-- > 0;) {
    if (d != beside) take(d, left);
  }
  std::uint64_t vectors = 1;
  for (std::uint32_t d = 0; d < nest.rank; ++d) vectors *= kernel.box[d];
  vectors /= unit;
  kernel.whole = nest.shape[row] % unit == 0;
  kernel.threads = tuning.threads;
  // What the tile needs, not what was allowed: else one kernel would have several recipes.
  kernel.turns = static_cast<std::uint32_t>(ceil_div(vectors, tuning.threads));
  kernel.choose_offsets(problem);
  return {kernel, nest};
}

MoveCandidate transpose_candidate(const MoveProblem& problem, std::uint32_t column,
                                  const MoveTuning& tuning) {
  const CanonicalNest& nest = problem.nest;
  MoveKernel kernel{.method = MoveMethod::transpose,
                    .element_bytes = problem.element_bytes(0),
                    .rank = nest.rank,
                    .column = column,
                    .chunk = tuning.vector_bytes / problem.element_bytes(0)};
  const std::uint32_t unit = kernel.chunk;
  std::array<std::uint32_t, max_view_rank> order{};
  std::iota(order.begin(), order.begin() + nest.rank, 0U);
  kernel.source_order = order;
  // A broadcast dimension goes on nowhere: it counts as the farthest. Where elements lie on each other others
  // may be as near as the column.
  const auto distance = [&](std::uint32_t d) {
    if (d == column) return std::uint64_t{0};
    const auto stride = static_cast<std::uint64_t>(std::abs(nest.operand[1].strides[d]));
    return stride == 0 ? std::numeric_limits<std::uint64_t>::max() : stride;
  };
  std::stable_sort(kernel.source_order.begin(), kernel.source_order.begin() + nest.rank,
                   [&](std::uint32_t a, std::uint32_t b) { return distance(a) > distance(b); });
  std::fill_n(kernel.box.begin(), nest.rank, 1U);
  lengthen(kernel, nest, 0, std::span(order).first(nest.rank), tuning.destination_run / kernel.element_bytes);
  lengthen(kernel, nest, 1, std::span(kernel.source_order).first(nest.rank),
           tuning.source_run / kernel.element_bytes);

  kernel.staggered = problem.alignment(0, nest.rank - 1) < tuning.vector_bytes;
  kernel.alignment = std::min(problem.alignment(1, column), tuning.vector_bytes);
  kernel.whole = !kernel.staggered && kernel.alignment == tuning.vector_bytes &&
                 nest.shape[nest.rank - 1] % unit == 0 && nest.shape[column] % unit == 0;

  // A block a thread, also where a staggered row adds some.
  std::uint64_t blocks = ceil_div(kernel.box[nest.rank - 1], unit) + (kernel.staggered ? 1 : 0);
  for (std::uint32_t d = 0; d + 1 < nest.rank; ++d) {
    blocks *= d == column ? ceil_div(kernel.box[d], unit) : kernel.box[d];
  }
  const std::uint64_t most = tuning.threads + tuning.threads / 4;
  kernel.threads =
      static_cast<std::uint32_t>(round_up(blocks, 32) <= most ? round_up(blocks, 32) : tuning.threads);
  kernel.choose_offsets(problem);
  return {kernel, nest};
}

TMAJIT_END
