#include "families/spans/spans_layout.hpp"

#include "families/shared/lines_met.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <utility>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t bytes_at_once = 32;               // that a thread has under way, at most ...
constexpr std::uint32_t loads_at_once = 16;               // ... by so many loads
constexpr std::uint32_t sector = 32;                      // bytes
constexpr std::uint64_t most_counted = (1ULL << 31) - 1;  // dividends of params::Divider
constexpr std::uint32_t most_columns = 1024;              // of a tile
constexpr std::uint32_t group_columns = 32;  // tiles of a group: what they share is still in the cache

/// Bytes from a view's first element to its last, whichever is the lower.
std::uint64_t reach_of(const Problem& problem, std::uint32_t operand) {
  std::uint64_t reach = 0;
  for (std::uint32_t d = 0; d < problem.nest.rank; ++d) {
    reach += static_cast<std::uint64_t>(std::abs(problem.step(operand, d))) * (problem.nest.shape[d] - 1);
  }
  return reach;
}

/// The size of equal parts, about `wanted` each, that are multiples of `unit`; of many parts what is wanted.
std::uint64_t part_of(std::uint64_t all, std::uint64_t wanted, std::uint64_t unit) {
  if (all >= 12 * wanted && wanted % unit == 0) return wanted;
  const std::uint64_t parts =
      std::max<std::uint64_t>((all + wanted / 2) / std::max<std::uint64_t>(wanted, 1), 1);
  return ceil_div(ceil_div(all, parts), unit) * unit;
}

/// The widest elements that rows of bits are made of in both views.
std::uint32_t unit_of(const Problem& problem) {
  const std::uint32_t row = problem.nest.rank - 1;
  if (!problem.reads_bits() || problem.nest.operand[1].strides[row] != 1) return 0;
  const std::uint32_t bytes = problem.element_bytes(0);
  const std::uint64_t row_bytes = problem.nest.shape[row] * bytes;
  const std::uint64_t bits =
      row_bytes | problem.alignment(0, row) | problem.alignment(1, row) | sizeof(std::uint64_t);
  const auto unit = static_cast<std::uint32_t>(std::uint64_t{1} << std::countr_zero(bits));
  return unit > bytes ? unit : 0;
}

/// Works out a layout of a problem as it is walked, step by step.
class SpanPlanner {
 public:
  SpanPlanner(Problem problem, const SpanTuning& tuning) : problem_(std::move(problem)), tuning_(tuning) {
    own_.rank = nest_.rank;
    own_.element_bytes = problem_.element_bytes(0);
    own_.sources = problem_.sources();
    own_.order[0] = nest_.rank - 1;
    for (std::uint32_t s = 0; s < own_.sources; ++s)
      own_.source[s].element_bytes = problem_.element_bytes(s + 1);
  }

  std::optional<SpanLayout> plan() {
    choose_lead();
    std::uint64_t wanted_run = std::max(tuning_.run_bytes / widest_, own_.in_word());
    choose_run(wanted_run);
    std::uint64_t wanted = std::max(tuning_.column_bytes / lead_bytes(), 1U);
    // What a short run lacks, more columns make up for, and the other way round.
    wanted *= std::max<std::uint64_t>(wanted_run / own_.run_elements, 1);
    wanted = std::min<std::uint64_t>(wanted, most_columns);
    choose_columns(wanted);
    if (own_.run_elements > most_counted || own_.all_columns > most_counted) return std::nullopt;
    if (2 * own_.all_columns <= wanted) {
      find_split(wanted_run);
      wanted_run *= wanted / own_.all_columns;
    }
    if (lead_ == none) {
      // One round of loads: the more CTAs there are that each take little, the nearer lies what they load.
      const std::uint64_t at_once = std::uint64_t{span_threads} * own_.stored_at_once * own_.in_word();
      wanted_run = std::min(wanted_run, at_once);
      wanted = std::clamp<std::uint64_t>(at_once / std::min(wanted_run, own_.run_elements), 1, wanted);
    }
    choose_tile(wanted_run, wanted);
    choose_images();
    if (own_.tiles() > most_counted / 2 || own_.shared_bytes() > most_span_bytes) return std::nullopt;
    return own_;
  }
  /// Where a dimension of the runs is better split, once planned.
  [[nodiscard]] const SpanWalk& better() const { return better_; }

 private:
  static constexpr std::uint32_t none = max_inputs;

  /// Runs that take all of a dimension leave few columns, and each element of a tile an entry of the table of
  /// its own: a part of it is enough.
  void find_split(std::uint64_t wanted_run) {
    if (own_.run_dimensions == 1 || nest_.rank == max_view_rank) return;
    const std::uint32_t d = own_.order[own_.run_dimensions - 1];
    const std::uint64_t inner = own_.run_elements / nest_.shape[d];
    const std::uint64_t wanted = std::max<std::uint64_t>(wanted_run / inner, 1);
    std::uint64_t all = nest_.shape[d];
    if (nest_.windowed) {
      // Parts lie inside of what a source reaches, or outside.
      const auto edge = [](std::int64_t index) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(index, 0));
      };
      all = std::gcd(
          all, std::gcd(edge(nest_.window_first[d]), std::min(edge(nest_.window_end[d]), nest_.shape[d])));
    }
    for (std::uint64_t away = 0; away <= wanted; ++away) {
      for (const std::uint64_t part : {wanted + away, wanted - std::min(away, wanted - 1)}) {
        if (2 * part < wanted || part < 2 || all % part != 0 || part == nest_.shape[d]) continue;
        better_ = {.split = d, .part = static_cast<std::uint32_t>(part)};
        return;
      }
    }
  }

  [[nodiscard]] std::uint32_t lead_bytes() const {
    return lead_ == none ? own_.element_bytes : own_.source[lead_].element_bytes;
  }

  /// Lines of a load of threads side by side along the destination's runs.
  [[nodiscard]] double lines_along(std::uint32_t s) const {
    return lines_met(problem_, s + 1, std::span(own_.order).first(own_.run_dimensions), own_.in_word(),
                     own_.run_elements);
  }

  /// The source that the columns are made for: that which lies across the rows by most.
  void choose_lead() {
    widest_ = own_.element_bytes;
    own_.run_elements = nest_.shape[nest_.rank - 1];
    double most = 0;
    for (std::uint32_t s = 0; s < own_.sources; ++s) {
      const std::uint32_t bytes = own_.source[s].element_bytes;
      const double side_by_side =
          std::max(1.0, static_cast<double>(warp_lanes * own_.in_word() * bytes) / memory_line_bytes);
      const double lines = lines_along(s);
      if (lines <= 2 * side_by_side) continue;
      widest_ = std::max(widest_, bytes);
      if (lines <= most) continue;
      most = lines;
      lead_ = s;
    }
    // Each word writes an expression out once more for each of its elements. Those that are not computed, and
    // come from no image, a thread has loaded itself: more of them are under way.
    own_.stored_at_once = problem_.expression().empty() ? (lead_ == none ? 32 / own_.element_bytes : 16) : 8;
    own_.stored_at_once = std::clamp(own_.stored_at_once / own_.in_word(), 2U, lead_ == none ? 8U : 4U);
  }

  void choose_run(std::uint64_t wanted) {
    const auto& strides = nest_.operand[0].strides;
    if (lead_ != none) order_ = farthest_first(nest_, lead_ + 1, nest_.rank);
    const std::uint32_t column = lead_ == none ? nest_.rank : order_[nest_.rank - 1];
    for (std::uint32_t d = nest_.rank - 1; d > 0 && 4 * own_.run_elements < 3 * wanted; --d) {
      if (strides[d - 1] != strides[d] * static_cast<std::int64_t>(nest_.shape[d])) break;
      if (d - 1 == column) break;  // columns need it
      own_.order[own_.run_dimensions++] = d - 1;
      own_.run_elements *= nest_.shape[d - 1];
    }
  }

  void choose_columns(std::uint64_t wanted) {
    const std::uint32_t first = nest_.rank - own_.run_dimensions;  // of the run's
    std::uint32_t taken = own_.run_dimensions;
    for (std::uint32_t k = nest_.rank; k-- > 0;) {
      const std::uint32_t d = lead_ == none ? k : order_[k];
      if (d >= first) continue;
      own_.order[taken++] = d;
      if (4 * own_.all_columns < 3 * wanted) {
        own_.all_columns *= nest_.shape[d];
        ++own_.column_dimensions;
      } else {
        own_.others *= nest_.shape[d];
      }
    }
  }

  /// Whether the part of a run that each tile has begins at a word of memory.
  [[nodiscard]] bool begins_at_words() const {
    std::uint64_t bits = problem_.address[0];
    for (std::uint32_t k = own_.run_dimensions; k < own_.rank; ++k) {
      const std::uint32_t d = own_.order[k];
      if (nest_.shape[d] > 1) bits |= static_cast<std::uint64_t>(problem_.step(0, d));
    }
    return bits % (std::uint64_t{own_.in_word()} * own_.element_bytes) == 0;
  }

  void choose_tile(std::uint64_t wanted_run, std::uint64_t wanted_columns) {
    own_.staggered = !begins_at_words();
    std::uint64_t reach = 0;
    for (std::uint32_t i = 0; i <= own_.sources; ++i) reach = std::max(reach, reach_of(problem_, i));
    own_.wide_offsets = reach > most_counted;
    const std::uint64_t run = own_.run_elements + (own_.staggered ? own_.in_word() - 1 : 0);
    own_.run = sat_cast<std::uint32_t>(part_of(run, wanted_run, own_.in_word()));
    const std::uint32_t bytes = lead_bytes();
    const bool whole_sectors = lead_ != none && wanted_columns * bytes >= std::uint64_t{2} * sector;
    const std::uint64_t unit = whole_sectors ? sector / bytes : 1;
    own_.columns =
        sat_cast<std::uint32_t>(std::min(part_of(own_.all_columns, wanted_columns, unit), own_.all_columns));
    own_.run_tiles = ceil_div(run, std::uint64_t{own_.run});
    own_.column_tiles = ceil_div(own_.all_columns, std::uint64_t{own_.columns});
    own_.group = static_cast<std::uint32_t>(part_of(own_.column_tiles, group_columns, 1));
  }

  /// Sources of which a load meets fewer lines along the columns than along the runs have images.
  void choose_images() {
    std::uint32_t widest = 0;
    std::uint32_t unit = own_.in_word();  // a chunk is whole words, of images too
    for (std::uint32_t s = 0; s < own_.sources; ++s) {
      SpanSource& source = own_.source[s];
      source.lines = lines_along(s);
      if (lead_ == none) continue;
      const auto columns = std::span(own_.order).subspan(own_.run_dimensions, own_.column_dimensions);
      const double across = lines_met(problem_, s + 1, columns, 1, own_.columns);
      if (across + 1 >= source.lines) continue;
      source.has_image = true;
      source.lines = across;
      widest = std::max(widest, source.element_bytes);
      unit = std::max(unit, source.word_bytes() / source.element_bytes);
    }
    own_.in_chunk = widest == 0 ? unit : chunk_of(std::min(bytes_at_once / widest, loads_at_once), unit);
    std::uint64_t bytes = 0;
    for (std::uint32_t s = 0; s < own_.sources; ++s) {
      SpanSource& source = own_.source[s];
      if (!source.has_image) continue;
      const std::uint32_t in_word = source.word_bytes() / source.element_bytes;
      source.image = sat_cast<std::uint32_t>(bytes);
      // An odd number of words, so that columns side by side meet all banks.
      source.pitch = (own_.chunks() * own_.in_chunk / in_word) | 1;
      bytes = round_up(bytes + std::uint64_t{own_.columns} * source.pitch * source.word_bytes(), 16);
    }
    own_.tables = sat_cast<std::uint32_t>(bytes);
  }

  /// As many elements as a thread may have under way, if that leaves little of the last chunk empty.
  [[nodiscard]] std::uint32_t chunk_of(std::uint32_t most, std::uint32_t unit) const {
    for (std::uint32_t n = most; 4 * n > most && n >= unit; n /= 2) {
      if (5 * own_.run >= 4 * ((own_.run + n - 1) / n * n)) return n;
    }
    return std::max(most / 4, unit);
  }

  const Problem problem_;
  const CanonicalNest& nest_ = problem_.nest;
  SpanTuning tuning_;
  SpanLayout own_;
  std::uint32_t lead_ = none;
  std::uint32_t widest_ = 1;  ///< bytes of an element of the destination, or of a source that lies across
  PerDimension order_{};      ///< of the lead
  SpanWalk better_{};
};

}  // namespace

std::uint32_t SpanLayout::lanes() const noexcept {
  return std::min(columns, span_threads);
}

std::uint32_t SpanLayout::stores() const noexcept {
  std::uint32_t best = 1;
  double most = 0;  // of the threads have something to do
  for (std::uint32_t rounds = 1; rounds <= 8; ++rounds) {
    const std::uint32_t lanes = (words() + rounds - 1) / rounds;
    if (lanes > span_threads) continue;
    const std::uint32_t columns_at_once = span_threads / lanes;
    const double busy = static_cast<double>(words()) / rounds * columns_at_once / span_threads;
    if (busy <= most * 1.1) continue;
    most = busy;
    best = lanes;
  }
  return best;
}

bool SpanLayout::has_image() const noexcept {
  return std::ranges::any_of(all_sources(), &SpanSource::has_image);
}

bool SpanLayout::loads_elements() const noexcept {
  return !std::ranges::all_of(all_sources(), &SpanSource::has_image);
}

std::uint32_t SpanLayout::elements() const noexcept {
  return (chunks() * in_chunk + (staggered ? in_word() - 1 : 0) + 3) / 4 * 4;
}

std::uint32_t SpanLayout::shared_bytes() const noexcept {
  const std::uint32_t offset_bytes = wide_offsets ? 8 : 4;
  return sat_cast<std::uint32_t>(tables + (std::uint64_t{sources} * elements() + (sources + 1ULL) * columns) *
                                              offset_bytes);
}

Problem SpanWalk::walked(const Problem& problem) const {
  Problem own = unit > 0 ? in_units(problem, unit) : problem;
  if (split == max_view_rank) return own;
  CanonicalNest& nest = own.nest;
  const auto insert = [&](auto& list, auto outer, auto inner) {
    std::copy_backward(list.begin() + split, list.end() - 1, list.end());
    list[split] = outer;
    list[split + 1] = inner;
  };
  insert(nest.shape, nest.shape[split] / part, std::uint64_t{part});
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    auto& strides = nest.operand[i].strides;
    insert(strides, strides[split] * std::int64_t{part}, strides[split]);
  }
  insert(nest.window_first, nest.window_first[split] / part, std::int64_t{0});
  insert(nest.window_end, nest.window_end[split] / part, std::int64_t{part});
  ++nest.rank;
  return own;
}

PerDimension SpanLayout::box(const Problem& problem, const CanonicalNest& walked) const noexcept {
  PerDimension box{};
  std::fill_n(box.begin(), rank, 1U);
  const auto enter = [&](std::uint32_t first, std::uint32_t last, std::uint64_t count) {
    for (std::uint32_t k = first; k < last; ++k) {
      const std::uint64_t extent = walked.shape[order[k]];
      box[order[k]] = static_cast<std::uint32_t>(std::min(extent, count));
      count = ceil_div(count, extent);
    }
  };
  enter(0, run_dimensions, run);
  enter(run_dimensions, run_dimensions + column_dimensions, columns);
  if (walk.split < max_view_rank) {
    const std::uint32_t outer = box[walk.split];
    std::copy(box.begin() + walk.split + 1, box.end(), box.begin() + walk.split);
    box[walk.split] *= outer;
  }
  if (walk.unit > 0) box[problem.nest.rank - 1] *= walk.unit / problem.element_bytes(0);
  return box;
}

bool takes_spans(const Problem& problem) noexcept {
  if (problem.nest.rank < 2 || !is_elementwise(problem)) return false;
  return !problem.expression().empty() || layout_of(problem) != Layout::rows;
}

std::optional<SpanLayout> span_layout(const Problem& problem, const SpanTuning& tuning) {
  SpanWalk walk{.unit = unit_of(problem)};
  SpanPlanner planner(walk.unit > 0 ? walk.walked(problem) : problem, tuning);
  std::optional<SpanLayout> layout = planner.plan();
  if (planner.better().split < max_view_rank) {
    walk.split = planner.better().split;
    walk.part = planner.better().part;
    layout = SpanPlanner(walk.walked(problem), tuning).plan();
  }
  if (layout) layout->walk = walk;
  return layout;
}

TMAJIT_END
