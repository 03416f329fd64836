#include "families/reduce/reduce_layout.hpp"

#include "families/shared/reduction_team.hpp"
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
constexpr std::uint32_t min_row_threads = 4;       // threads along a row, so that they load whole sectors
constexpr std::uint64_t thread_row_bytes = 64;     // one thread reduces rows of at most this many bytes
constexpr std::uint64_t min_column_bytes = 128;    // bytes that a CTA takes of contiguous columns
constexpr std::uint32_t max_thread_bytes = 128;    // bytes that a thread has in flight
constexpr std::uint32_t max_staggered_bytes = 32;  // max_thread_bytes if rows are several and unaligned
constexpr std::uint32_t max_column_loads = 8;      // loads that a thread of columns has in flight
constexpr std::uint64_t max_narrow_items = std::uint64_t{1} << 30;  // limit of 32-bit indices and Divider

bool is_reduced(const Problem& problem, std::uint32_t d) {
  return problem.nest.operand[0].strides[d] == 0;
}

/// The dimension along which vectors are loaded: the one in which the contiguous sources have the most bytes
/// per element in total. In a tie, and if no source is contiguous, the first source's smallest stride
/// decides.
std::uint32_t choose_vector_dimension(const Problem& problem) {
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
  if (walk.vector_dimension == nest.rank) return;
  const std::uint64_t extent = nest.shape[walk.vector_dimension];
  std::uint32_t widest = 1;
  std::uint32_t aligned = reduce_vector_bytes;
  bool has_run = false;
  for (std::uint32_t i = 1; i < nest.operands; ++i) {
    if (problem.is_number(i)) continue;
    widest = std::max(widest, problem.element_bytes(i));
    if (nest.operand[i].strides[walk.vector_dimension] == 1) has_run = true;
  }
  if (!has_run) return;
  std::uint32_t vector = reduce_vector_bytes / widest;
  while (vector > extent) vector /= 2;
  const auto fits = [&](std::uint32_t elements) {
    for (std::uint32_t i = 1; i < nest.operands; ++i) {
      if (nest.operand[i].strides[walk.vector_dimension] != 1) continue;
      aligned = problem.alignment(i, walk.vector_dimension);
      if (aligned < std::min(elements * problem.element_bytes(i), reduce_vector_bytes)) return false;
    }
    return true;
  };
  if (!walk.columns && !fits(vector) && problem.sources() - problem.numbers == 1 &&
      extent * problem.element_bytes(1) >= min_staggered_row_bytes) {
    walk.staggered = true;
  }
  while (!walk.staggered && !fits(vector)) vector /= 2;
  walk.vector = vector;
  walk.cut = vector > 1 && (walk.staggered || extent % vector != 0);
  for (std::uint32_t s = 0; s < problem.sources(); ++s) {
    walk.is_run[s] = vector > 1 && nest.operand[s + 1].strides[walk.vector_dimension] == 1;
  }
}

void add_steps(ReductionWalk& walk, const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  const auto add = [&](std::uint32_t d) {
    ReductionStep step{.d = d, .extent = nest.shape[d]};
    if (d == walk.vector_dimension) {
      step.elements = walk.vector;
      // A row that begins within a vector touches one vector more.
      step.extent = ceil_div(step.extent + (walk.staggered ? walk.vector - 1 : 0), walk.vector);
    }
    const bool reduced = is_reduced(problem, d);
    (reduced ? walk.reduced_steps : walk.result_steps).push_back(step);
    std::uint64_t& items = reduced ? walk.reduced : walk.result_items;
    items = sat_mul(items, step.extent);
    if (reduced) walk.count = sat_mul(walk.count, nest.shape[d]);
  };
  if (walk.vector_dimension < nest.rank) add(walk.vector_dimension);
  for (std::uint32_t d = nest.rank; d-- > 0;) {
    if (d != walk.vector_dimension) add(d);
  }
}

/// The numbers of items that a thread may have in flight. Each has kernels of its own.
constexpr std::uint32_t all_turns[] = {1, 2, 4, 8, 16};
/// If CTAs share rows or columns, all CTAs together fill this many quarters of a wave: of the CTAs that the
/// chip holds at once.
constexpr std::uint64_t wave_quarters[] = {1, 4};

constexpr std::uint64_t reduce_ctas_per_sm = 4;  // resident CTAs of reduction_threads threads
// A line: the contiguous bytes that the columns of a CTA have in a row.
constexpr std::uint64_t default_line_bytes = 4096;
constexpr std::uint64_t max_default_parts = 8;  // if more CTAs would share columns, lines are shorter

/// Lists how threads may share the items of a walk.
class Sharings {
 public:
  Sharings(const ReductionWalk& walk, std::uint64_t sms) : walk_(walk), sms_(sms) {
    std::uint32_t most = max_thread_bytes;
    if (walk.staggered && !walk.is_flat()) most = max_staggered_bytes;
    if (walk.columns) most = std::min(most, max_column_loads * walk.item_bytes);
    max_bytes_ = std::max(most, walk.item_bytes);
  }

  std::vector<ReductionSharing> rows() && {
    const std::uint64_t least = walk_.reduced * walk_.item_bytes <= thread_row_bytes
                                    ? 1
                                    : std::min<std::uint64_t>(std::bit_ceil(walk_.reduced), min_row_threads);
    const std::uint64_t side = walk_.reduced_steps.empty() ? 1 : walk_.reduced_steps.front().extent;
    for (std::uint64_t threads_per_item = least; threads_per_item <= reduction_threads;
         threads_per_item *= 2) {
      if (threads_per_item > least && threads_per_item / 2 >= walk_.reduced) break;
      const std::uint64_t tile_items = std::min(reduction_threads / threads_per_item, walk_.result_items);
      const bool can_share_more = threads_per_item < walk_.reduced && threads_per_item < reduction_threads;
      if (can_share_more && tile_items * threads_per_item < reduction_threads) continue;
      // If there are more threads than a row has items, they load from several rows at a time: this pays only
      // if rows are few.
      if (threads_per_item / 2 >= side &&
          walk_.result_items >= sms_ * reduction_threads / (threads_per_item / 2))
        break;
      add_turns(tile_items, threads_per_item);
    }
    return std::move(list_);
  }

  std::vector<ReductionSharing> columns() && {
    const std::uint64_t line = std::max<std::uint64_t>(min_column_bytes / walk_.item_bytes, min_row_threads);
    for (std::uint64_t side = line; side <= reduction_threads; side *= 2) {
      // Tiles of about equal size, so that no tile has few columns.
      std::uint64_t tiles = std::max<std::uint64_t>(walk_.result_items / side, 1);
      if (ceil_div(walk_.result_items, tiles) > reduction_threads) ++tiles;
      const std::uint64_t tile_items =
          std::min<std::uint64_t>(ceil_div(walk_.result_items, tiles), reduction_threads);
      const std::uint64_t threads_per_item = std::min(reduction_threads / tile_items, walk_.reduced);
      if (side == line) {
        add_turns(tile_items, threads_per_item);
      } else {  // Longer lines have at most as many parts as the last CTA reads at once.
        add_turns(tile_items, threads_per_item, std::uint64_t{parts_at_once} * threads_per_item);
      }
      if (tiles == 1) break;
    }
    return std::move(list_);
  }

 private:
  void add_turns(std::uint64_t tile_items, std::uint64_t threads_per_item,
                 std::uint64_t max_parts = std::numeric_limits<std::uint64_t>::max()) {
    std::uint64_t previous_turns = 0;
    for (const std::uint32_t turns : all_turns) {
      if (turns > 1 &&
          (turns * walk_.item_bytes > max_bytes_ || previous_turns * threads_per_item >= walk_.reduced))
        break;
      previous_turns = turns;
      add_parts(tile_items, threads_per_item, turns, 1);
      const std::uint64_t round = threads_per_item * turns;
      const std::uint64_t tiles = ceil_div(walk_.result_items, tile_items);
      const std::uint64_t ctas = ctas_at_once(tile_items * threads_per_item);
      // A part of columns writes a partial result for each column, which is read again. It pays only if the
      // part has several rounds of loads.
      const std::uint64_t most = std::min(walk_.reduced / (round * (walk_.columns ? 4 : 1)), max_parts);
      // With one load a thread, CTAs share items only if two loads do not fit: that saves kernels and parts.
      if (turns == 1 && 2 * walk_.item_bytes <= max_bytes_ && threads_per_item < walk_.reduced) continue;
      for (const std::uint64_t quarters : wave_quarters)
        add_parts(tile_items, threads_per_item, turns, std::min(quarters * ctas / 4 / tiles, most));
    }
  }

  void add_parts(std::uint64_t tile_items, std::uint64_t threads_per_item, std::uint32_t turns,
                 std::uint64_t parts) {
    ReductionSharing sharing{.turns = turns,
                             .tile_items = static_cast<std::uint32_t>(tile_items),
                             .threads_per_item = static_cast<std::uint32_t>(threads_per_item),
                             .part = walk_.reduced};
    if (parts > 1) {
      sharing.part = round_up(ceil_div(walk_.reduced, parts), threads_per_item * turns);
      sharing.parts = static_cast<std::uint32_t>(ceil_div(walk_.reduced, sharing.part));
    }
    if (list_.empty() || !(list_.back() == sharing)) list_.push_back(sharing);
  }

  /// The number of CTAs of `threads` threads that the chip holds at once.
  [[nodiscard]] std::uint64_t ctas_at_once(std::uint64_t threads) const {
    return sms_ * (reduce_ctas_per_sm * reduction_threads / threads);
  }

  const ReductionWalk& walk_;
  std::uint64_t sms_;
  std::uint32_t max_bytes_;
  std::vector<ReductionSharing> list_;
};

}  // namespace

bool ReductionWalk::is_wide() const noexcept {
  return result_items >= max_narrow_items || reduced >= max_narrow_items;
}
std::uint32_t ReductionLayout::threads() const noexcept {
  return static_cast<std::uint32_t>(
      round_up(std::uint64_t{share.tile_items} * share.threads_per_item, reduce_warp));
}
std::uint64_t ReductionLayout::tiles() const noexcept {
  return ceil_div(walk->result_items, share.tile_items);
}

ReductionWalk reduction_walk(const Problem& problem) {
  ReductionWalk walk;
  walk.vector_dimension = choose_vector_dimension(problem);
  walk.columns = walk.vector_dimension < problem.nest.rank && !is_reduced(problem, walk.vector_dimension);
  choose_vector(walk, problem);
  add_steps(walk, problem);
  for (std::uint32_t i = 1; i < problem.nest.operands; ++i)
    walk.item_bytes += problem.is_number(i) ? 0 : problem.element_bytes(i) * walk.vector;
  return walk;
}

std::vector<ReductionSharing> reduction_sharings(const ReductionWalk& walk, std::uint32_t sm_count) {
  Sharings sharings(walk, sm_count);
  return walk.columns ? std::move(sharings).columns() : std::move(sharings).rows();
}

std::size_t default_sharing(const ReductionWalk& walk, std::span<const ReductionSharing> sharings,
                            std::uint32_t sm_count) {
  const std::uint64_t ctas_at_once = sm_count * reduce_ctas_per_sm;
  std::uint64_t line = std::clamp<std::uint64_t>(default_line_bytes / walk.item_bytes, 1, reduction_threads);
  while (line * walk.item_bytes > min_column_bytes &&
         ctas_at_once / ceil_div(walk.result_items, line) > max_default_parts)
    line /= 2;
  // Sharings of columns compare first by how near a tile's items are to a line. Then all sharings compare by
  // their threads, up to two fifths of those that the chip holds; by loads in flight; by threads per item.
  using Key = std::array<std::uint64_t, 4>;
  const auto key = [&](const ReductionSharing& share) {
    const std::uint64_t tile_items = share.tile_items;
    const std::uint64_t nearness = 64 * std::min(tile_items, line) / std::max(tile_items, line);
    const std::uint64_t threads = ceil_div(walk.result_items, share.tile_items) * share.parts *
                                  share.tile_items * share.threads_per_item;
    return Key{walk.columns ? nearness : 0, std::min(threads, ctas_at_once * reduction_threads * 2 / 5),
               share.turns, share.threads_per_item};
  };
  return static_cast<std::size_t>(std::ranges::max_element(sharings, {}, key) - sharings.begin());
}

TMAJIT_END
