#include "families/reduce/reduce_layout.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;
constexpr std::uint32_t warp = 32;
// Bytes of loads that a thread has under way: with 1024 threads an SM, as many as fit the registers, these
// are the 64 KiB that keep its memory busy.
constexpr std::uint32_t bytes_of_thread = 64;
constexpr std::uint32_t most_turns = 16;
constexpr std::uint32_t least_side_by_side = 4;  // threads along a row: its sectors are then loaded whole
constexpr std::uint64_t row_of_thread =
    64;  // bytes: of rows so short a thread takes one, and its neighbours the next
constexpr std::uint64_t line_of_columns = 512;      // bytes that a CTA takes of a row, where it is so long
constexpr std::uint64_t vectors_of_staggered = 16;  // of a row that is worth two that are cut
constexpr std::uint64_t most_narrow = std::uint64_t{1} << 30;  // items that 32 bits and Divider count

bool is_reduced(const Problem& problem, std::uint32_t d) {
  return problem.nest.operand[0].strides[d] == 0;
}

/// The dimension along which most bytes of an index lie side by side; where none do, the one along which the
/// first source's lie nearest.
std::uint32_t choose_along(const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  std::uint32_t best = nest.rank;
  std::uint64_t most = 0;
  std::uint64_t nearest = std::numeric_limits<std::uint64_t>::max();
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 1; i < nest.operands; ++i) {
      if (nest.operand[i].strides[d] == 1) bytes += problem.element_bytes(i);
    }
    const auto distance = static_cast<std::uint64_t>(std::abs(nest.operand[1].strides[d]));
    const std::uint64_t near = distance == 0 ? std::numeric_limits<std::uint64_t>::max() : distance;
    if (best != nest.rank && (bytes < most || (bytes == most && near >= nearest))) continue;
    best = d;
    most = bytes;
    nearest = near;
  }
  return best;
}

void choose_vector(ReductionLayout& layout, const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  if (layout.along == nest.rank) return;
  const std::uint64_t extent = nest.shape[layout.along];
  std::uint32_t widest = 1;
  std::uint32_t aligned = vector_bytes;
  bool has_run = false;
  for (std::uint32_t i = 1; i < nest.operands; ++i) {
    widest = std::max(widest, problem.element_bytes(i));
    if (nest.operand[i].strides[layout.along] == 1) has_run = true;
  }
  if (!has_run) return;
  std::uint32_t vector = vector_bytes / widest;
  while (vector > extent) vector /= 2;
  const auto fits = [&](std::uint32_t elements) {
    for (std::uint32_t i = 1; i < nest.operands; ++i) {
      if (nest.operand[i].strides[layout.along] != 1) continue;
      aligned = problem.alignment(i, layout.along);
      if (aligned < std::min(elements * problem.element_bytes(i), vector_bytes)) return false;
    }
    return true;
  };
  if (!layout.columns && !fits(vector) && problem.sources() == 1 && extent >= vectors_of_staggered * vector) {
    layout.staggered = true;
  }
  while (!layout.staggered && !fits(vector)) vector /= 2;
  layout.vector = vector;
  layout.cut = vector > 1 && (layout.staggered || extent % vector != 0);
  for (std::uint32_t s = 0; s < problem.sources(); ++s) {
    layout.is_run[s] = vector > 1 && nest.operand[s + 1].strides[layout.along] == 1;
  }
}

void add_steps(ReductionLayout& layout, const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  const auto add = [&](std::uint32_t d) {
    ReductionStep step{.d = d, .extent = nest.shape[d]};
    if (d == layout.along) {
      step.elements = layout.vector;
      // Of a row that begins within a vector one more is met.
      step.extent = ceil_div(step.extent + (layout.staggered ? layout.vector - 1 : 0), layout.vector);
    }
    const bool reduced = is_reduced(problem, d);
    (reduced ? layout.reduced_steps : layout.kept_steps).push_back(step);
    std::uint64_t& items = reduced ? layout.reduced : layout.kept;
    items = sat_mul(items, step.extent);
    if (reduced) layout.count = sat_mul(layout.count, nest.shape[d]);
  };
  if (layout.along < nest.rank) add(layout.along);
  for (std::uint32_t d = nest.rank; d-- > 0;) {
    if (d != layout.along) add(d);
  }
}

/// Threads that share an item of what is kept, where they lie side by side: a power of two.
void share_rows(ReductionLayout& layout, std::uint32_t item_bytes) {
  const std::uint64_t busy = std::bit_floor(std::max<std::uint64_t>(layout.reduced / layout.turns, 1));
  const std::uint64_t least =
      layout.reduced * item_bytes <= row_of_thread
          ? 1
          : std::min<std::uint64_t>(std::bit_ceil(layout.reduced), least_side_by_side);
  layout.phases = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(busy, least, reduction_threads));
  const std::uint64_t fit = reduction_threads / layout.phases;
  layout.owners = static_cast<std::uint32_t>(std::min<std::uint64_t>(fit, layout.kept));
}

void share_columns(ReductionLayout& layout, std::uint32_t item_bytes) {
  const std::uint64_t busy = std::max<std::uint64_t>(layout.reduced / layout.turns, 1);
  const std::uint64_t line = std::max<std::uint64_t>(line_of_columns / item_bytes, least_side_by_side);
  const std::uint64_t owners =
      std::clamp<std::uint64_t>(reduction_threads / std::min<std::uint64_t>(busy, reduction_threads),
                                std::min<std::uint64_t>(line, reduction_threads), reduction_threads);
  layout.owners = static_cast<std::uint32_t>(std::min<std::uint64_t>(owners, layout.kept));
  layout.phases =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(reduction_threads / layout.owners, layout.reduced));
}

/// CTAs that share what comes together, where there would be too few.
void share_parts(ReductionLayout& layout, std::uint64_t ctas) {
  // Of columns each part writes and reads as much as it keeps: worth that of several rounds of all threads.
  const std::uint64_t rounds = layout.columns ? 4 : 1;
  const std::uint64_t least = std::uint64_t{layout.phases} * layout.turns * rounds;
  const std::uint64_t wanted = ceil_div(ctas, layout.tiles());
  layout.parts = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(layout.reduced / least, 1, wanted));
  layout.part = ceil_div(layout.reduced, layout.parts);
  // Whole rounds of all threads, but for the last part.
  if (layout.parts > 1) layout.part = round_up(layout.part, std::uint64_t{layout.phases} * layout.turns);
  layout.parts = static_cast<std::uint32_t>(ceil_div(layout.reduced, layout.part));
}

}  // namespace

bool ReductionLayout::is_wide() const noexcept {
  return kept >= most_narrow || reduced >= most_narrow;
}
std::uint32_t ReductionLayout::threads() const noexcept {
  return static_cast<std::uint32_t>(round_up(std::uint64_t{owners} * phases, warp));
}
std::uint64_t ReductionLayout::tiles() const noexcept {
  return ceil_div(kept, owners);
}

ReductionLayout reduction_layout(const Problem& problem, const ReductionTuning& tuning) {
  ReductionLayout layout;
  layout.along = choose_along(problem);
  layout.columns = layout.along < problem.nest.rank && !is_reduced(problem, layout.along);
  choose_vector(layout, problem);
  add_steps(layout, problem);
  std::uint32_t item_bytes = 0;
  for (std::uint32_t i = 1; i < problem.nest.operands; ++i) {
    item_bytes += problem.element_bytes(i) * layout.vector;
  }
  layout.turns = std::clamp(bytes_of_thread / item_bytes, 1U, most_turns);
  if (layout.columns) {
    share_columns(layout, item_bytes);
  } else {
    share_rows(layout, item_bytes);
  }
  share_parts(layout, std::uint64_t{problem.sm_count} * tuning.ctas_per_sm);
  return layout;
}

TMAJIT_END
