#include "families/reduce/reduce_layout.hpp"

#include "families/reduce/reduction_team.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t reduce_vector_bytes = 16;
constexpr std::uint32_t reduce_warp = 32;
constexpr std::uint32_t least_side_by_side = 4;   // threads along a row: they load whole sectors
constexpr std::uint64_t row_of_thread = 64;       // bytes: a thread takes shorter rows alone
constexpr std::uint64_t line_of_columns = 128;    // bytes that a CTA takes of a longer row, at least
constexpr std::uint32_t bytes_of_thread = 128;    // that a thread has under way, at most
constexpr std::uint32_t bytes_of_staggered = 32;  // of these, where vectors are cut one by one
constexpr std::uint32_t loads_of_columns = 8;     // that a thread has under way, at most
constexpr std::uint64_t most_narrow_items = std::uint64_t{1} << 30;  // items that 32 bits and Divider count

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

void choose_vector(ReductionWalk& walk, const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  if (walk.along == nest.rank) return;
  const std::uint64_t extent = nest.shape[walk.along];
  std::uint32_t widest = 1;
  std::uint32_t aligned = reduce_vector_bytes;
  bool has_run = false;
  for (std::uint32_t i = 1; i < nest.operands; ++i) {
    widest = std::max(widest, problem.element_bytes(i));
    if (nest.operand[i].strides[walk.along] == 1) has_run = true;
  }
  if (!has_run) return;
  std::uint32_t vector = reduce_vector_bytes / widest;
  while (vector > extent) vector /= 2;
  const auto fits = [&](std::uint32_t elements) {
    for (std::uint32_t i = 1; i < nest.operands; ++i) {
      if (nest.operand[i].strides[walk.along] != 1) continue;
      aligned = problem.alignment(i, walk.along);
      if (aligned < std::min(elements * problem.element_bytes(i), reduce_vector_bytes)) return false;
    }
    return true;
  };
  if (!walk.columns && !fits(vector) && problem.sources() == 1 &&
      extent * problem.element_bytes(1) >= bytes_of_staggered_row) {
    walk.staggered = true;
  }
  while (!walk.staggered && !fits(vector)) vector /= 2;
  walk.vector = vector;
  walk.cut = vector > 1 && (walk.staggered || extent % vector != 0);
  for (std::uint32_t s = 0; s < problem.sources(); ++s) {
    walk.is_run[s] = vector > 1 && nest.operand[s + 1].strides[walk.along] == 1;
  }
}

void add_steps(ReductionWalk& walk, const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  const auto add = [&](std::uint32_t d) {
    ReductionStep step{.d = d, .extent = nest.shape[d]};
    if (d == walk.along) {
      step.elements = walk.vector;
      // A row that begins within a vector touches one vector more.
      step.extent = ceil_div(step.extent + (walk.staggered ? walk.vector - 1 : 0), walk.vector);
    }
    const bool reduced = is_reduced(problem, d);
    (reduced ? walk.reduced_steps : walk.kept_steps).push_back(step);
    std::uint64_t& items = reduced ? walk.reduced : walk.kept;
    items = sat_mul(items, step.extent);
    if (reduced) walk.count = sat_mul(walk.count, nest.shape[d]);
  };
  if (walk.along < nest.rank) add(walk.along);
  for (std::uint32_t d = nest.rank; d-- > 0;) {
    if (d != walk.along) add(d);
  }
}

/// Items of a thread under way at once that kernels are made for.
constexpr std::uint32_t all_turns[] = {1, 2, 4, 8, 16};
/// CTAs that share rows or columns are so many quarters of those that run at once.
constexpr std::uint64_t quarters_of_wave[] = {1, 4};

constexpr std::uint64_t reduce_ctas_per_sm = 4;  // of all threads, that run at once
constexpr std::uint64_t usual_line = 4096;       // bytes of columns that a CTA takes side by side, as a rule
constexpr std::uint64_t usual_parts =
    8;  // CTAs that share columns: where they would be more, lines are shorter

/// Lists how threads may share the items of a walk.
class Sharings {
 public:
  Sharings(const ReductionWalk& walk, std::uint64_t sms) : walk_(walk), sms_(sms) {
    std::uint32_t most = bytes_of_thread;
    if (walk.staggered && !walk.is_flat()) most = bytes_of_staggered;
    if (walk.columns) most = std::min(most, loads_of_columns * walk.item_bytes);
    most_bytes_ = std::max(most, walk.item_bytes);
  }

  std::vector<ReductionSharing> rows() && {
    const std::uint64_t least =
        walk_.reduced * walk_.item_bytes <= row_of_thread
            ? 1
            : std::min<std::uint64_t>(std::bit_ceil(walk_.reduced), least_side_by_side);
    const std::uint64_t side = walk_.reduced_steps.empty() ? 1 : walk_.reduced_steps.front().extent;
    for (std::uint64_t phases = least; phases <= reduction_threads; phases *= 2) {
      if (phases > least && phases / 2 >= walk_.reduced) break;
      const std::uint64_t owners = std::min(reduction_threads / phases, walk_.kept);
      const bool can_share_more = phases < walk_.reduced && phases < reduction_threads;
      if (can_share_more && owners * phases < reduction_threads) continue;
      // Threads that go on in another row load from several places at a time: only where rows are few.
      if (phases / 2 >= side && walk_.kept >= sms_ * reduction_threads / (phases / 2)) break;
      add_turns(owners, phases);
    }
    return std::move(list_);
  }

  std::vector<ReductionSharing> columns() && {
    const std::uint64_t line =
        std::max<std::uint64_t>(line_of_columns / walk_.item_bytes, least_side_by_side);
    for (std::uint64_t side = line; side <= reduction_threads; side *= 2) {
      // As many a tile as leave none with few.
      std::uint64_t tiles = std::max<std::uint64_t>(walk_.kept / side, 1);
      if (ceil_div(walk_.kept, tiles) > reduction_threads) ++tiles;
      const std::uint64_t owners = std::min<std::uint64_t>(ceil_div(walk_.kept, tiles), reduction_threads);
      const std::uint64_t phases = std::min(reduction_threads / owners, walk_.reduced);
      if (side == line) {
        add_turns(owners, phases);
      } else {  // Shorter lines need fewer parts: a last CTA reads those of longer ones at once.
        add_turns(owners, phases, std::uint64_t{parts_at_once} * phases);
      }
      if (tiles == 1) break;
    }
    return std::move(list_);
  }

 private:
  void add_turns(std::uint64_t owners, std::uint64_t phases,
                 std::uint64_t most_parts = std::numeric_limits<std::uint64_t>::max()) {
    std::uint64_t enough = 0;  // turns that the ones before had
    for (const std::uint32_t turns : all_turns) {
      if (turns > 1 && (turns * walk_.item_bytes > most_bytes_ || enough * phases >= walk_.reduced)) break;
      enough = turns;
      add_parts(owners, phases, turns, 1);
      const std::uint64_t round = phases * turns;
      const std::uint64_t tiles = ceil_div(walk_.kept, owners);
      const std::uint64_t ctas = at_once(owners * phases);
      // A part of columns writes and reads a result of each: worth several rounds of all threads.
      const std::uint64_t most = std::min(walk_.reduced / (round * (walk_.columns ? 4 : 1)), most_parts);
      // One load a thread shares rows only where two do not fit: a kernel less, and fewer parts.
      if (turns == 1 && 2 * walk_.item_bytes <= most_bytes_ && phases < walk_.reduced) continue;
      for (const std::uint64_t quarters : quarters_of_wave)
        add_parts(owners, phases, turns, std::min(quarters * ctas / 4 / tiles, most));
    }
  }

  void add_parts(std::uint64_t owners, std::uint64_t phases, std::uint32_t turns, std::uint64_t parts) {
    ReductionSharing sharing{.turns = turns,
                             .owners = static_cast<std::uint32_t>(owners),
                             .phases = static_cast<std::uint32_t>(phases),
                             .part = walk_.reduced};
    if (parts > 1) {
      sharing.part = round_up(ceil_div(walk_.reduced, parts), phases * turns);
      sharing.parts = static_cast<std::uint32_t>(ceil_div(walk_.reduced, sharing.part));
    }
    if (list_.empty() || !(list_.back() == sharing)) list_.push_back(sharing);
  }

  [[nodiscard]] std::uint64_t at_once(std::uint64_t threads) const {
    return sms_ * (reduce_ctas_per_sm * reduction_threads / threads);
  }

  const ReductionWalk& walk_;
  std::uint64_t sms_;
  std::uint32_t most_bytes_;
  std::vector<ReductionSharing> list_;
};

}  // namespace

bool ReductionWalk::is_wide() const noexcept {
  return kept >= most_narrow_items || reduced >= most_narrow_items;
}
std::uint32_t ReductionLayout::threads() const noexcept {
  return static_cast<std::uint32_t>(round_up(std::uint64_t{share.owners} * share.phases, reduce_warp));
}
std::uint64_t ReductionLayout::tiles() const noexcept {
  return ceil_div(walk->kept, share.owners);
}

ReductionWalk reduction_walk(const Problem& problem) {
  ReductionWalk walk;
  walk.along = choose_along(problem);
  walk.columns = walk.along < problem.nest.rank && !is_reduced(problem, walk.along);
  choose_vector(walk, problem);
  add_steps(walk, problem);
  for (std::uint32_t i = 1; i < problem.nest.operands; ++i)
    walk.item_bytes += problem.element_bytes(i) * walk.vector;
  return walk;
}

std::vector<ReductionSharing> reduction_sharings(const ReductionWalk& walk, std::uint32_t sm_count) {
  Sharings sharings(walk, sm_count);
  return walk.columns ? std::move(sharings).columns() : std::move(sharings).rows();
}

std::size_t usual_sharing(const ReductionWalk& walk, std::span<const ReductionSharing> sharings,
                          std::uint32_t sm_count) {
  const std::uint64_t full = sm_count * reduce_ctas_per_sm;
  std::uint64_t line = std::clamp<std::uint64_t>(usual_line / walk.item_bytes, 1, reduction_threads);
  while (line * walk.item_bytes > line_of_columns && full / ceil_div(walk.kept, line) > usual_parts)
    line /= 2;
  // The usual one of columns has that line; all keep some two fifths of the chip busy, then have most loads
  // under way, then most threads that share an item.
  using Key = std::array<std::uint64_t, 4>;
  const auto key = [&](const ReductionSharing& share) {
    const std::uint64_t owners = share.owners;
    const std::uint64_t nearness = 64 * std::min(owners, line) / std::max(owners, line);
    const std::uint64_t threads =
        ceil_div(walk.kept, share.owners) * share.parts * share.owners * share.phases;
    return Key{walk.columns ? nearness : 0, std::min(threads, full * reduction_threads * 2 / 5), share.turns,
               share.phases};
  };
  return static_cast<std::size_t>(std::ranges::max_element(sharings, {}, key) - sharings.begin());
}

TMAJIT_END
