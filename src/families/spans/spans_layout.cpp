#include "families/spans/spans_layout.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>

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

void choose_run(SpanLayout& layout, const Problem& problem, std::uint64_t wanted) {
  const CanonicalNest& nest = problem.nest;
  const auto& strides = nest.operand[0].strides;
  const std::uint32_t column = contiguous_dimension(problem, 1);
  std::uint32_t d = nest.rank - 1;
  layout.order[0] = d;
  layout.run_elements = nest.shape[d];
  while (d > 0 && 4 * layout.run_elements < 3 * wanted) {
    if (strides[d - 1] != strides[d] * static_cast<std::int64_t>(nest.shape[d])) break;
    if (d - 1 == column) break;  // columns need it
    --d;
    layout.order[layout.run_dimensions++] = d;
    layout.run_elements *= nest.shape[d];
  }
}

void choose_columns(SpanLayout& layout, const Problem& problem, std::uint64_t wanted) {
  const CanonicalNest& nest = problem.nest;
  const PerDimension order = farthest_first(nest, 1, nest.rank);
  const std::uint32_t first = nest.rank - layout.run_dimensions;  // of the run's
  std::uint32_t taken = layout.run_dimensions;
  for (std::uint32_t k = nest.rank; k-- > 0;) {
    const std::uint32_t d = order[k];
    if (d >= first) continue;
    layout.order[taken++] = d;
    if (4 * layout.all_columns < 3 * wanted) {
      layout.all_columns *= nest.shape[d];
      ++layout.column_dimensions;
    } else {
      layout.others *= nest.shape[d];
    }
  }
}

/// As many as a thread may have under way, if that leaves little of the last chunk empty.
std::uint32_t words_at_once(const SpanLayout& layout) {
  const std::uint32_t most = std::min(bytes_at_once / layout.element_bytes, loads_at_once) / layout.in_word();
  for (std::uint32_t words = most; 4 * words > most; words /= 2) {
    const std::uint32_t loaded = (layout.words() + words - 1) / words * words;
    if (5 * layout.words() >= 4 * loaded) return words;
  }
  return std::max(most / 4, 1U);
}

/// Whether the part of a run that each tile has begins at a word of memory.
bool begins_at_words(const SpanLayout& layout, const Problem& problem) {
  std::uint64_t bits = problem.address[0];
  for (std::uint32_t k = layout.run_dimensions; k < layout.rank; ++k) {
    bits |= static_cast<std::uint64_t>(problem.step(0, layout.order[k]));
  }
  return bits % (std::uint64_t{layout.in_word()} * layout.element_bytes) == 0;
}

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

double SpanLayout::lines_met(const Problem& problem) const noexcept {
  constexpr std::int64_t line = 128;
  std::array<std::int64_t, warp_lanes> met{};
  std::uint32_t count = 0;
  for (std::uint32_t n = 0; n < std::min(columns, warp_lanes); ++n) {
    std::int64_t at = 0;
    std::uint64_t left = n;
    for (std::uint32_t k = run_dimensions; k < run_dimensions + column_dimensions; ++k) {
      at += static_cast<std::int64_t>(left % problem.nest.shape[order[k]]) * problem.step(1, order[k]);
      left /= problem.nest.shape[order[k]];
    }
    const std::int64_t number = at >= 0 ? at / line : (at + 1) / line - 1;
    if (std::find(met.begin(), met.begin() + count, number) == met.begin() + count) met[count++] = number;
  }
  // Of fewer columns a warp has several words.
  return static_cast<double>(count) * std::max(1.0, static_cast<double>(warp_lanes) / columns);
}

std::uint32_t SpanLayout::entries() const noexcept {
  return columns + chunks() * words_at_once * in_word() + (staggered ? in_word() - 1 : 0);
}

std::uint32_t SpanLayout::shared_bytes() const noexcept {
  const std::uint32_t offset_bytes = wide_offsets ? 8 : 4;
  const std::uint32_t elements = (entries() - columns + 3) / 4 * 4;
  return columns * pitch() * in_word() * element_bytes + (elements + 2 * columns) * offset_bytes;
}

PerDimension SpanLayout::box(const CanonicalNest& nest) const noexcept {
  PerDimension box{};
  std::fill_n(box.begin(), rank, 1U);
  const auto enter = [&](std::uint32_t first, std::uint32_t last, std::uint64_t count) {
    for (std::uint32_t k = first; k < last; ++k) {
      const std::uint64_t extent = nest.shape[order[k]];
      box[order[k]] = static_cast<std::uint32_t>(std::min(extent, count));
      count = ceil_div(count, extent);
    }
  };
  enter(0, run_dimensions, run);
  enter(run_dimensions, run_dimensions + column_dimensions, columns);
  return box;
}

bool takes_spans(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 2 || problem.sources() != 1 || !problem.reads_bits()) return false;
  return problem.element_bytes(0) <= 8 && nest.operand[0].strides[nest.rank - 1] == 1;
}

std::optional<SpanLayout> span_layout(const Problem& problem, const SpanTuning& tuning) {
  SpanLayout layout{.rank = problem.nest.rank, .element_bytes = problem.element_bytes(0)};
  const std::uint32_t bytes = layout.element_bytes;
  const std::uint64_t wanted_run = std::max(tuning.run_bytes / bytes, layout.in_word());
  const std::uint64_t wanted_columns = std::max(tuning.column_bytes / bytes, 1U);
  choose_run(layout, problem, wanted_run);
  // What a short run lacks, more columns make up for.
  const std::uint64_t short_by = std::max<std::uint64_t>(wanted_run / layout.run_elements, 1);
  const std::uint64_t columns = std::min<std::uint64_t>(wanted_columns * short_by, most_columns);
  choose_columns(layout, problem, columns);
  if (layout.run_elements > most_counted || layout.all_columns > most_counted) return std::nullopt;

  layout.staggered = !begins_at_words(layout, problem);
  layout.wide_offsets = std::max(reach_of(problem, 0), reach_of(problem, 1)) > most_counted;
  const std::uint64_t run = layout.run_elements + (layout.staggered ? layout.in_word() - 1 : 0);
  layout.run = sat_cast<std::uint32_t>(part_of(run, wanted_run, layout.in_word()));
  const std::uint64_t unit = columns * bytes >= std::uint64_t{2} * sector ? sector / bytes : 1;
  layout.columns =
      sat_cast<std::uint32_t>(std::min(part_of(layout.all_columns, columns, unit), layout.all_columns));
  layout.words_at_once = words_at_once(layout);
  layout.run_tiles = ceil_div(run, std::uint64_t{layout.run});
  layout.column_tiles = ceil_div(layout.all_columns, std::uint64_t{layout.columns});
  layout.group = static_cast<std::uint32_t>(part_of(layout.column_tiles, group_columns, 1));
  if (layout.tiles() > most_counted / 2 || layout.shared_bytes() > most_span_bytes) return std::nullopt;
  return layout;
}

TMAJIT_END
