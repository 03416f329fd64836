#include "families/flat/flat_layout.hpp"

#include "families/shared/lines_met.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <cstdlib>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t max_counted = (1ULL << 31) - 1;      // dividends of params::Divider
constexpr std::uint32_t short_row_bytes = 4 * sector_bytes;  // rows with fewer bytes are short
constexpr std::uint32_t max_side = 1024;                     // elements of a tile along x or y
/// Elements that a thread loads for an image at once; half as many if they have 8 bytes.
constexpr std::uint32_t loaded_at_once = 32;
constexpr std::uint32_t longest_joined = 512;  // bytes of a row of x, if a word may span several rows
constexpr std::uint32_t converted_bytes = 16;  // most bytes of a word in any operand, if kernels compute

/// Cuts an extent into equal parts of about `wanted` elements, a multiple of `unit`; returns the elements of
/// a part. If there are many parts, a last part that is not full costs little, and parts have `wanted`
/// elements.
std::uint32_t part_of(std::uint64_t extent, std::uint64_t wanted, std::uint64_t unit) {
  wanted = round_up(wanted, unit);
  if (extent >= 12 * wanted) return sat_cast<std::uint32_t>(wanted);
  const std::uint64_t parts = std::max<std::uint64_t>((extent + wanted / 2) / wanted, 1);
  return sat_cast<std::uint32_t>(round_up(ceil_div(extent, parts), unit));
}

/// The largest distance between two elements of an operand, in elements.
std::uint64_t reach_of(const CanonicalNest& nest, std::uint32_t operand) {
  std::uint64_t reach = 0;
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    const auto stride = static_cast<std::uint64_t>(std::abs(nest.operand[operand].strides[d]));
    reach = sat_add(reach, sat_mul(stride, nest.shape[d]));
  }
  return reach;
}

/// The number of elements along y that are contiguous in a source.
std::uint64_t run_of_y(const CanonicalNest& nest, const FlatLayout& layout, std::uint32_t source) {
  std::uint64_t run = 1;
  std::int64_t expected = std::abs(nest.operand[source + 1].strides[layout.dimension[layout.x_dimensions]]);
  for (std::uint32_t k = layout.x_dimensions; k < layout.rank; ++k) {
    const std::uint32_t d = layout.dimension[k];
    if (std::abs(nest.operand[source + 1].strides[d]) != expected) break;
    expected *= static_cast<std::int64_t>(nest.shape[d]);
    run = sat_mul(run, nest.shape[d]);
  }
  return run;
}

/// Bytes of a run of the source that loads should cover.
std::uint64_t wanted_run(std::uint32_t element_bytes) {
  return element_bytes < 4 ? 2 * sector_bytes : 4 * sector_bytes;
}

}  // namespace

FlatPlanner::FlatPlanner(const Problem& problem) : problem_(problem), nest_(problem.nest) {
  if (nest_.rank < 2 || !is_elementwise(problem)) return;
  if (problem.expression().empty() && tmajit::layout_of(problem) == Layout::rows) return;
  base_.rank = nest_.rank;
  base_.element_bytes = problem.element_bytes(0);
  base_.sources = problem.sources();
  PerDimension inner_first{};
  std::int64_t expected = 1;
  for (std::uint32_t k = 0; k < nest_.rank; ++k) {
    const std::uint32_t d = nest_.rank - 1 - k;
    inner_first[k] = d;
    dense_ = dense_ && nest_.operand[0].strides[d] == expected;
    expected *= static_cast<std::int64_t>(nest_.shape[d]);
  }
  double most_lines = 0;
  for (std::uint32_t s = 0; s < base_.sources; ++s) {
    FlatSource& source = base_.source[s];
    source.element_bytes = problem.element_bytes(s + 1);
    source.lines = lines_met(problem_, s + 1, std::span(inner_first).first(nest_.rank), 1, nest_.elements());
    const double contiguous_lines =
        std::max(1.0, static_cast<double>(warp_lanes * source.element_bytes) / memory_line_bytes);
    const PerDimension order = farthest_first(nest_, s + 1, nest_.rank);
    const std::uint32_t nearest = across_of(order, source.element_bytes);
    if (nearest == none) continue;
    // Loads of short rows that are runs of the source touch few lines, but only parts of sectors. Loads of
    // narrow elements a few bytes apart touch few lines, too, but take one word per element.
    const bool loads_parts = order[nest_.rank - 1] + 1 == nest_.rank || source.element_bytes < 4;
    if (source.lines <= std::max(loads_parts ? 0 : 1.5 * contiguous_lines, most_lines)) continue;
    most_lines = source.lines;
    lead_ = s;
    across_ = nearest;
    order_ = order;
  }
  for (std::uint32_t i = 0; i < nest_.operands; ++i)
    base_.wide_offsets = base_.wide_offsets || reach_of(nest_, i) > max_counted;
}

/// The dimension in which a source lies across the destination. It is the dimension of the source's smallest
/// stride, if that is not the last dimension. If the last dimension has the smallest stride, it must be
/// short: then it is the dimension of the second smallest stride, unless that directly precedes the last. In
/// all other cases, `none`.
std::uint32_t FlatPlanner::across_of(const PerDimension& order, std::uint32_t element_bytes) const {
  const std::uint32_t last = nest_.rank - 1;
  if (order[last] != last) return order[last];
  if (nest_.shape[last] * element_bytes >= short_row_bytes || order[last - 1] + 1 == last) return none;
  return order[last - 1];
}

std::optional<FlatLayout> FlatPlanner::layout(const FlatTuning& tuning) const {
  if (across_ == none) return std::nullopt;
  FlatLayout layout = base_;
  layout.threads = tuning.threads;
  layout.order = tuning.order;
  layout.joined = tuning.variant == FlatVariant::joined_rows;
  if (!choose_dimensions(layout, tuning.variant) || !choose_word(layout, tuning)) return std::nullopt;
  choose_images(layout);
  choose_tile(layout, tuning);
  if (tuning.variant == FlatVariant::one_source_run && layout.y < run_of_y(nest_, layout, lead_))
    return std::nullopt;
  place_images(layout);
  for (std::uint32_t s = 0; s < layout.sources; ++s) layout.source[s].lines = lines_of_load(layout, s);
  if (layout.ctas() > max_counted || layout.shared_bytes() > max_flat_shared_bytes) return std::nullopt;
  return layout;
}

/// Chooses the dimensions of x and y. Returns false if the variant does not suit the problem.
bool FlatPlanner::choose_dimensions(FlatLayout& layout, FlatVariant variant) const {
  const auto& strides = nest_.operand[0].strides;
  const auto extent_from = [&](std::uint32_t d) {
    std::uint64_t extent = 1;
    for (; d < nest_.rank; ++d) extent = sat_mul(extent, nest_.shape[d]);
    return extent;
  };
  std::uint32_t first = nest_.rank - 1;  // first dimension of x
  while (first > 0 && first - 1 != across_ &&
         strides[first - 1] == strides[first] * static_cast<std::int64_t>(nest_.shape[first]))
    --first;
  if (variant == FlatVariant::longer_source_runs) {
    // Moves dimensions from x to y until a run of the source covers enough sectors. A row of x keeps at least
    // one sector.
    const std::uint32_t bytes = layout.source[lead_].element_bytes;
    std::uint64_t run = bytes;
    std::uint32_t shorter_first = first;
    for (std::uint32_t k = nest_.rank; k-- > 0 && run < wanted_run(bytes); run *= nest_.shape[order_[k]]) {
      if (order_[k] < shorter_first || (order_[k] + 1 == nest_.rank && k + 1 == nest_.rank)) continue;
      if (order_[k] + 1 == nest_.rank || extent_from(order_[k] + 1) * layout.element_bytes < sector_bytes)
        break;
      shorter_first = order_[k] + 1;
    }
    if (shorter_first == first) return false;
    first = shorter_first;
  }
  layout.x_dimensions = nest_.rank - first;
  for (std::uint32_t k = 0; k < layout.x_dimensions; ++k) layout.dimension[k] = nest_.rank - 1 - k;
  layout.x_extent = extent_from(first);
  if (layout.joined && (!dense_ || layout.sources > 1 || first != across_ + 1 ||
                        layout.x_extent * layout.element_bytes > longest_joined))
    return false;
  std::uint32_t next = layout.x_dimensions;
  for (std::uint32_t k = nest_.rank; k-- > 0;) {
    const std::uint32_t d = layout.joined ? k : order_[k];
    if (d >= first) continue;
    layout.dimension[next++] = d;
    layout.y_extent = sat_mul(layout.y_extent, nest_.shape[d]);
  }
  return layout.x_extent <= max_counted && layout.y_extent <= max_counted;
}

/// Whether each row of the destination consists of whole, aligned words of `bytes`.
bool FlatPlanner::fills_rows(const FlatLayout& layout, std::uint32_t bytes) const {
  std::uint64_t bits = problem_.address[0] | layout.x_extent * layout.element_bytes;
  for (std::uint32_t k = layout.x_dimensions; k < layout.rank; ++k)
    bits |= static_cast<std::uint64_t>(problem_.step(0, layout.dimension[k]));
  return bits % bytes == 0;
}

/// Chooses the word of a store. Returns false if most words would be stored element by element.
bool FlatPlanner::choose_word(FlatLayout& layout, const FlatTuning& tuning) const {
  std::uint32_t widest = layout.element_bytes;
  if (!problem_.expression().empty()) {
    for (const FlatSource& source : layout.all_sources()) widest = std::max(widest, source.element_bytes);
  }
  const std::uint32_t least = std::max(4 / layout.element_bytes, 1U);
  std::uint32_t& word_elements = layout.word_elements;
  word_elements =
      std::clamp(tuning.word_bytes / layout.element_bytes, 1U, std::max(converted_bytes / widest, 1U));
  word_elements = std::max(word_elements, least);
  if (layout.joined) {
    layout.staggered = word_elements > 1;
    return true;
  }
  while (word_elements > least && !fills_rows(layout, word_elements * layout.element_bytes))
    word_elements /= 2;
  layout.staggered = word_elements > 1 && !fills_rows(layout, word_elements * layout.element_bytes);
  return !layout.staggered || layout.x_extent >= std::uint64_t{2} * word_elements;
}

/// Elements of one load of a source along y: as many of a 4-byte word as keep all loads aligned.
std::uint32_t FlatPlanner::elements_per_load(const FlatLayout& layout, std::uint32_t s) const {
  const std::uint32_t bytes = layout.source[s].element_bytes;
  const std::uint32_t fastest = layout.dimension[layout.x_dimensions];
  if (nest_.windowed || nest_.operand[s + 1].strides[fastest] != 1) return 1;
  std::uint64_t bits = problem_.address[s + 1] | nest_.shape[fastest] * bytes;
  for (std::uint32_t d = 0; d < nest_.rank; ++d) {
    if (d != fastest && nest_.shape[d] > 1) bits |= static_cast<std::uint64_t>(problem_.step(s + 1, d));
  }
  for (std::uint32_t n = std::max(4 / bytes, 1U); n > 1; n /= 2) {
    if (bits % (std::uint64_t{n} * bytes) == 0) return n;
  }
  return 1;
}

/// Gives an image to the leading source, and to sources whose loads touch fewer lines along y than along x.
void FlatPlanner::choose_images(FlatLayout& layout) const {
  const auto y = std::span(layout.dimension).subspan(layout.x_dimensions, layout.rank - layout.x_dimensions);
  for (std::uint32_t s = 0; s < layout.sources; ++s) {
    if (problem_.is_number(s + 1)) continue;
    FlatSource& source = layout.source[s];
    const double lines = lines_met(problem_, s + 1, y, 1, layout.y_extent);
    if (s != lead_ && lines + 1 >= source.lines) continue;
    source.lines = lines;
    source.y_per_load = elements_per_load(layout, s);
    layout.group = std::max(layout.group, 4 / source.element_bytes);
  }
}

void FlatPlanner::choose_tile(FlatLayout& layout, const FlatTuning& tuning) const {
  const std::uint32_t lead_bytes = layout.source[lead_].element_bytes;
  std::uint64_t wanted_x = std::max(tuning.x_bytes / layout.element_bytes, layout.word_elements);
  std::uint64_t wanted_y = std::max(tuning.y_bytes / lead_bytes, 1U);
  if (tuning.variant == FlatVariant::one_source_run) {
    const std::uint64_t run = run_of_y(nest_, layout, lead_);
    wanted_x *= std::max<std::uint64_t>(wanted_y / run, 1);
    wanted_y = std::min(wanted_y, run);
  }
  // If one side of the tile is short, the other may be longer.
  if (layout.x_extent < wanted_x) wanted_y *= wanted_x / layout.x_extent;
  if (layout.y_extent < wanted_y) wanted_x *= wanted_y / layout.y_extent;
  std::uint32_t most_loaded = 1;
  std::uint32_t least_loaded = 4;
  for (const FlatSource& source : layout.all_sources()) {
    most_loaded = std::max(most_loaded, source.y_per_load);
    if (source.has_image()) least_loaded = std::min(least_loaded, source.y_per_load);
  }
  const std::uint64_t max_y = std::min(layout.threads * least_loaded, max_side);
  if (layout.joined) {
    layout.x = static_cast<std::uint32_t>(round_up(layout.x_extent, layout.group));
    const std::uint64_t elements =
        std::uint64_t{tuning.x_bytes} / layout.element_bytes * tuning.y_bytes / lead_bytes;
    wanted_y = std::max<std::uint64_t>(elements / layout.x_extent, sector_bytes);
  } else {
    layout.x =
        part_of(layout.x_extent + (layout.staggered ? layout.word_elements - 1 : 0),
                std::min<std::uint64_t>(wanted_x, max_side), std::max(layout.word_elements, layout.group));
  }
  wanted_y = std::min(wanted_y, max_y);
  const bool whole_sectors = tuning.variant != FlatVariant::one_source_run &&
                             wanted_y * lead_bytes >= std::uint64_t{2} * sector_bytes;
  const std::uint64_t y_unit = std::max(whole_sectors ? sector_bytes / lead_bytes : 1, most_loaded);
  layout.y = part_of(layout.y_extent, wanted_y, y_unit);
  layout.y = static_cast<std::uint32_t>(std::min<std::uint64_t>({layout.y, layout.y_extent, max_y}));
  layout.y = layout.y / most_loaded * most_loaded;
  // The code of a kernel that computes repeats the expression for each element that a thread stores.
  const std::uint32_t stored = problem_.expression().empty() ? 16 : 8;
  layout.stores = std::clamp(stored / layout.word_elements, 2U, 4U);
  for (std::uint32_t s = 0; s < layout.sources; ++s) choose_lanes(layout, s);
  // A thread has all loads of its part of a tile in flight, up to a limit.
  const std::uint32_t threads_along_x = layout.threads / std::max(layout.y / least_loaded, 1U);
  const std::uint64_t needed = ceil_div(layout.columns(), std::uint64_t{layout.group} * threads_along_x);
  const std::uint32_t max_loads =
      std::max((lead_bytes < 8 ? loaded_at_once : loaded_at_once / 2) / layout.group, 1U);
  while (2 * layout.loads <= max_loads && layout.loads < needed) layout.loads *= 2;
}

/// Chooses the order of a source's loads. If its rows of x are short runs of its memory, threads load a whole
/// row before the next along y.
void FlatPlanner::choose_lanes(FlatLayout& layout, std::uint32_t s) const {
  FlatSource& source = layout.source[s];
  const std::uint32_t last = nest_.rank - 1;
  if (source.y_per_load != 1 || std::abs(nest_.operand[s + 1].strides[last]) != 1) return;
  const auto row = static_cast<std::uint32_t>(std::min<std::uint64_t>(nest_.shape[last], layout.threads));
  source.x_lanes =
      std::clamp(row % layout.group == 0 ? row / layout.group : row, 1U, layout.threads / layout.y);
}

/// Lines of memory that a load of the first warp touches.
double FlatPlanner::lines_of_load(const FlatLayout& layout, std::uint32_t s) const {
  const FlatSource& source = layout.source[s];
  const auto offset = [&](std::uint32_t first, std::uint32_t last, std::uint64_t index) {
    std::int64_t bytes = 0;
    for (std::uint32_t k = first; k < last; ++k) {
      const std::uint32_t d = layout.dimension[k];
      bytes += static_cast<std::int64_t>(index % nest_.shape[d]) * problem_.step(s + 1, d);
      index /= nest_.shape[d];
    }
    return bytes;
  };
  std::array<std::int64_t, warp_lanes> lines{};
  std::uint32_t found = 0;
  const std::uint32_t fast_lanes = source.has_image() ? layout.y / source.y_per_load : layout.word_lanes();
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint64_t fast = lane / source.x_lanes % fast_lanes;
    const std::uint64_t slow = lane / source.x_lanes / fast_lanes * source.x_lanes + lane % source.x_lanes;
    const std::uint64_t x = source.has_image() ? slow * layout.group : fast * layout.word_elements;
    const std::uint64_t y = source.has_image() ? fast * source.y_per_load : slow;
    const std::int64_t at = offset(0, layout.x_dimensions, x) + offset(layout.x_dimensions, layout.rank, y);
    const std::int64_t line = at >= 0 ? at / memory_line_bytes : (at + 1) / memory_line_bytes - 1;
    if (std::find(lines.begin(), lines.begin() + found, line) == lines.begin() + found) lines[found++] = line;
  }
  return found;
}

void FlatPlanner::place_images(FlatLayout& layout) const {
  std::uint64_t bytes = 0;
  for (FlatSource& source : std::span(layout.source).first(layout.sources)) {
    if (!source.has_image()) continue;
    source.image = sat_cast<std::uint32_t>(bytes);
    // An odd number of words, so that adjacent rows are in different banks. A store of a staggered word may
    // read one word more.
    source.pitch = (layout.columns() * source.element_bytes / source.word_bytes() + 1) | 1U;
    const std::uint64_t joined =
        (layout.y * layout.x_extent + std::uint64_t{2} * layout.word_elements) * source.element_bytes;
    bytes += layout.joined ? joined : std::uint64_t{layout.y} * source.pitch * source.word_bytes();
    bytes = round_up(bytes, 16);
  }
  layout.tables = sat_cast<std::uint32_t>(bytes);
}

std::uint32_t FlatLayout::word_lanes() const noexcept {
  constexpr std::uint32_t max_words_per_lane = 8;
  std::uint32_t best = 1;
  double busiest = 0;  // fraction of the threads that have a word
  for (std::uint32_t words_per_lane = 1; words_per_lane <= max_words_per_lane; ++words_per_lane) {
    const std::uint32_t lanes = static_cast<std::uint32_t>(ceil_div(words(), std::uint64_t{words_per_lane}));
    if (lanes > threads) continue;
    const std::uint32_t rows = std::min(threads / lanes, y);
    const double busy = static_cast<double>(words()) / words_per_lane * rows / threads;
    if (busy <= busiest * 1.1) continue;  // more words must keep clearly more threads busy
    busiest = busy;
    best = lanes;
  }
  return best;
}

std::uint64_t FlatLayout::consecutive_y_tiles() const noexcept {
  return order == TileOrder::source ? y_tiles() : 1;
}

std::uint32_t FlatLayout::shared_bytes() const noexcept {
  const std::uint32_t offset_bytes = wide_offsets ? 8 : 4;
  return sat_cast<std::uint32_t>(tables +
                                 (std::uint64_t{sources} * columns() + (sources + 1ULL) * y) * offset_bytes);
}

PerDimension FlatLayout::tile_order() const noexcept {
  PerDimension fastest = dimension;
  if (order == TileOrder::source)
    std::rotate(fastest.begin(), fastest.begin() + x_dimensions, fastest.begin() + rank);
  std::reverse(fastest.begin(), fastest.begin() + rank);
  return fastest;
}

PerDimension FlatLayout::box(const CanonicalNest& nest) const noexcept {
  PerDimension box{};
  const auto set_extents = [&](std::uint32_t first, std::uint32_t last, std::uint64_t count) {
    for (std::uint32_t k = first; k < last; ++k) {
      const std::uint64_t extent = nest.shape[dimension[k]];
      box[dimension[k]] = static_cast<std::uint32_t>(std::min(extent, count));
      count = ceil_div(count, extent);
    }
  };
  set_extents(0, x_dimensions, x);
  set_extents(x_dimensions, rank, y);
  return box;
}

TMAJIT_END
