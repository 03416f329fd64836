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

constexpr std::uint32_t vector_bytes = 16;
constexpr std::uint32_t warp = 32;
constexpr std::uint32_t least_side_by_side = 4;  // threads along a row: its sectors are then loaded whole
constexpr std::uint64_t row_of_thread =
    64;  // bytes: of rows so short a thread takes one, and its neighbours the next
constexpr std::uint64_t line_of_columns = 128;  // bytes that a CTA takes of a row, where it is so long
constexpr std::uint64_t wide_line = 512;        // bytes side by side beyond which more gain nothing
constexpr std::uint64_t narrow_line = 128;      // likewise, of rows that a CTA takes several of
constexpr std::uint64_t wide_row = 1024;        // likewise, of long rows
// What a thread has under way at most: with more, loads took up to 1.5 and 1.3 times as long.
constexpr std::uint32_t bytes_of_staggered = 32;  // where vectors are cut one by one
constexpr std::uint32_t loads_of_columns = 8;
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
  if (!layout.columns && !fits(vector) && problem.sources() == 1 &&
      extent * problem.element_bytes(1) >= bytes_of_staggered_row) {
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

/// Items of a thread under way at once that kernels are made for.
constexpr std::uint32_t all_turns[] = {1, 2, 4, 8, 16};

/// Who does what. Times are in those of a load that misses all caches.
class Search {
 public:
  Search(const ReductionLayout& layout, std::uint64_t sms, const ReductionTuning& tuning,
         std::uint32_t item_bytes)
      : layout_(layout), best_(layout), ctas_per_sm_(tuning.ctas_per_sm), sms_(sms), item_bytes_(item_bytes) {
    std::uint32_t most = tuning.bytes_of_thread;
    if (layout.staggered && !layout.is_flat()) most = std::min(most, bytes_of_staggered);
    if (layout.columns) most = std::min(most, loads_of_columns * item_bytes);
    most_bytes_ = std::max(most, item_bytes);
  }

  ReductionLayout rows() {
    const std::uint64_t least =
        layout_.reduced * item_bytes_ <= row_of_thread
            ? 1
            : std::min<std::uint64_t>(std::bit_ceil(layout_.reduced), least_side_by_side);
    for (std::uint64_t phases = least; phases <= reduction_threads; phases *= 2) {
      if (phases > least && phases / 2 >= layout_.reduced) break;
      const std::uint64_t side =
          std::min<std::uint64_t>(side_by_side(layout_.reduced_steps), reduction_threads);
      const std::uint64_t line = std::min(phases, side) * item_bytes_;
      try_turns(std::min(reduction_threads / phases, layout_.kept), phases, 0,
                of_over * doublings(phases, side) + of_short * doublings(narrow_line, line) +
                    of_rows * doublings(std::min(side * item_bytes_, wide_row), line));
    }
    return best_;
  }

  ReductionLayout columns() {
    const std::uint64_t line = std::max<std::uint64_t>(line_of_columns / item_bytes_, least_side_by_side);
    for (std::uint64_t side = line; side <= reduction_threads; side *= 2) {
      // As many a tile as leave none with few.
      std::uint64_t tiles = std::max<std::uint64_t>(layout_.kept / side, 1);
      if (ceil_div(layout_.kept, tiles) > reduction_threads) ++tiles;
      const std::uint64_t owners = std::min<std::uint64_t>(ceil_div(layout_.kept, tiles), reduction_threads);
      const std::uint64_t phases = std::min(reduction_threads / owners, layout_.reduced);
      const std::uint64_t row = side_by_side(layout_.kept_steps);
      const std::uint64_t line_bytes = std::min(owners, row) * item_bytes_;
      try_turns(owners, phases, 0.5 * static_cast<double>(std::bit_width(phases - 1)),
                of_over * doublings(owners, row) + of_narrow * doublings(wide_line, line_bytes));
    }
    return best_;
  }

 private:
  /// Items of the steps that lie in one row.
  static std::uint64_t side_by_side(const std::vector<ReductionStep>& steps) {
    return steps.empty() ? 1 : steps.front().extent;
  }

  /// How often `is` has to be doubled to be `wanted`.
  static double doublings(std::uint64_t wanted, std::uint64_t is) {
    return std::log2(std::max(1.0, static_cast<double>(wanted) / static_cast<double>(is)));
  }

  /// CTAs of so many threads that run at a time.
  [[nodiscard]] std::uint64_t together_of(std::uint64_t threads) const {
    return sms_ * (ctas_per_sm_ * reduction_threads / round_up(threads, warp));
  }

  /// `apart`: the share of time that is added because what a round of loads brings lies in several places.
  void try_turns(std::uint64_t owners, std::uint64_t phases, double to_meet, double apart) {
    std::uint64_t enough = 0;  // turns that the ones before had
    for (const std::uint32_t turns : all_turns) {
      if (turns > 1 && (turns * item_bytes_ > most_bytes_ || enough * phases >= layout_.reduced)) break;
      enough = turns;
      const std::uint64_t round = phases * turns;
      const std::uint64_t tiles = ceil_div(layout_.kept, owners);
      const std::uint64_t together = together_of(owners * phases);
      // Of columns each part writes and reads as much as it keeps: worth that of several rounds of all
      // threads.
      const std::uint64_t most = layout_.reduced / (round * (layout_.columns ? 4 : 1));
      for (std::uint64_t waves = 0; waves <= 4; waves = waves * 2 + (waves == 0 ? 1 : 0)) {
        const std::uint64_t wanted = waves * together / tiles;
        try_parts(owners, phases, turns,
                  std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(most, 1)), to_meet, apart);
        if (wanted > most) break;
      }
    }
  }

  void try_parts(std::uint64_t owners, std::uint64_t phases, std::uint32_t turns, std::uint64_t parts,
                 double to_meet, double apart) {
    const std::uint64_t round = phases * turns;
    std::uint64_t part = ceil_div(layout_.reduced, parts);
    // Whole rounds of all threads, but for the last part.
    if (parts > 1) part = round_up(part, round);
    parts = ceil_div(layout_.reduced, part);
    const std::uint64_t tiles = ceil_div(layout_.kept, owners);
    const double waves =
        static_cast<double>(tiles * parts) / static_cast<double>(together_of(owners * phases));
    const double rounds = static_cast<double>(ceil_div(part, round));
    double cta = cta_start + to_meet + rounds * (1 + turns * of_turn) * (1 + apart);
    double all = 0;
    if (parts > 1) {
      cta += part_end;
      const ReductionTeamShape team{.columns = layout_.columns,
                                    .owners = static_cast<std::uint32_t>(owners),
                                    .phases = static_cast<std::uint32_t>(phases),
                                    .parts = static_cast<std::uint32_t>(parts),
                                    .tiles = tiles,
                                    .results = layout_.results()};
      all = waits_of_parts(team) * of_wait + to_meet +
            static_cast<double>(parts_of_group(team) * owners * layout_.results()) / met_at_once;
    }
    // The last to begin do so when others have ended; how many an SM has is known when the kernel is
    // compiled. And no number of CTAs loads more at a time than memory gives.
    const double loaded = static_cast<double>(layout_.kept) * static_cast<double>(layout_.reduced) *
                          static_cast<double>(item_bytes_);
    all += std::max(cta * (waves <= 1 ? 1 : waves + uneven),
                    cta_start + loaded / static_cast<double>(sms_) / bytes_of_sm * (1 + apart));
    all += of_cta * static_cast<double>(tiles * parts) / static_cast<double>(sms_);
    if (all >= least_) return;
    least_ = all;
    best_.owners = static_cast<std::uint32_t>(owners);
    best_.phases = static_cast<std::uint32_t>(phases);
    best_.turns = turns;
    best_.part = part;
    best_.parts = static_cast<std::uint32_t>(parts);
  }

  static constexpr double met_at_once = 512;    // results of parts that a CTA reads
  static constexpr double of_wait = 1.25;       // one reading of them after the other, when all else is done
  static constexpr double of_cta = 0.2;         // to launch one
  static constexpr double uneven = 0.25;        // of the last wave
  static constexpr double cta_start = 1.5;      // before its first load, and after its last
  static constexpr double part_end = 2.5;       // a fence and an atomic; parts are read as late
  static constexpr double of_turn = 1.0 / 64;   // to issue a load
  static constexpr double bytes_of_sm = 30300;  // that memory gives one while a load is waited for
  // How much longer memory takes for each doubling of the places in which a round's bytes lie: lines of rows
  // behind each other, pieces of rows of less than `narrow_line`, pieces of longer rows, narrow columns.
  // Fitted, with the constants above, to 1410 layouts of 90 reductions of f32 on an H200.
  static constexpr double of_over = 0.05;
  static constexpr double of_short = 0.2;
  static constexpr double of_rows = 0.02;
  static constexpr double of_narrow = 0.04;

  const ReductionLayout& layout_;
  ReductionLayout best_;
  std::uint32_t ctas_per_sm_;
  std::uint64_t sms_;
  std::uint32_t item_bytes_;
  std::uint32_t most_bytes_;
  double least_ = std::numeric_limits<double>::max();
};

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
  Search search(layout, problem.sm_count, tuning, item_bytes);
  return layout.columns ? search.columns() : search.rows();
}

TMAJIT_END
