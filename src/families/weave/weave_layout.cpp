#include "families/weave/weave_layout.hpp"

#include "families/shared/source_lines.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t word_bytes = 4;
constexpr std::uint32_t image_unit = 16;          // bytes that come to an image at once
constexpr std::uint32_t most_line = 32 * 1024;    // bytes
constexpr std::uint32_t most_image = 48 * 1024;   // bytes, but for what is read past the last line
constexpr std::uint32_t short_line = 64;          // bytes: a line goes on where the next dimension begins
constexpr std::uint32_t short_group = 16;         // bytes of columns: of fewer a thread takes a word
constexpr std::uint32_t least_run = 8;            // bytes
constexpr std::uint32_t skews[] = {0, 2, 4, 8};   // lines between two gaps of an image; 0: it has none
constexpr std::uint32_t most_gaps = 4;            // lengths of what lies between lines that are tried
constexpr std::uint32_t strip_lanes = 2;          // what a strip costs beside its lanes, in lanes
constexpr std::uint32_t place_entry = 4;          // bytes of a table
constexpr std::uint32_t resident = 4;             // CTAs of an SM
constexpr std::uint32_t most_shared = 56 * 1024;  // bytes: four CTAs an SM
// Instructions of a thread that has another item of its CTA's to do, and of each group of columns of it.
constexpr std::uint32_t item_issue = 60;
constexpr std::uint32_t group_issue = 30;
constexpr std::uint32_t column_issue = 10;

class LayoutPlanner {
 public:
  LayoutPlanner(const Problem& problem, const PerDimension& box)
      : problem_(problem), nest_(problem.nest), bytes_(problem.element_bytes(0)) {
    own_.rank = nest_.rank;
    own_.element_bytes = bytes_;
    own_.box = box;
    own_.side.fill(WeaveSide::other);
    own_.source_order = farthest_first(nest_, 1, own_.rank);
  }

  std::optional<WeaveLayout> plan() {
    if (!choose_sides()) return std::nullopt;
    if (!lay_lines()) return std::nullopt;
    arrange_threads();
    if (!lay_image()) return std::nullopt;
    own_.wide_offsets = has_wide_offsets(problem_, own_.box, image_unit) ? 1 : 0;
    for (std::uint32_t d = 0; d < own_.rank; ++d) {
      if (nest_.shape[d] % own_.box[d] != 0) own_.cut = 1;
    }
    WeaveLayout layout{.facts = own_, .wavefronts = wavefronts_};
    layout.tiles = product(tile_counts(nest_, own_.box, own_.rank), own_.rank);
    layout.tiles_per_cta = best_tiles_per_cta(layout.tiles);
    const std::uint64_t tables =
        most_weave_tiles * round_up(24 + 4 * std::uint64_t{own_.rank}, std::uint64_t{8}) +
        place_entry * std::uint64_t{own_.run_elements} +
        (own_.fused != 0
             ? std::uint64_t{own_.columns + own_.in_group()} * (own_.wide_offsets != 0 ? 8 : 4) + 8
             : 0);
    const std::uint64_t images = layout.tiles_per_cta > 1 ? 2 : 1;
    layout.bytes =
        sat_cast<std::uint32_t>(round_up(tables, std::uint64_t{image_unit}) + images * own_.image_bytes);
    if (layout.bytes > most_shared) return std::nullopt;
    return layout;
  }

 private:
  [[nodiscard]] std::int64_t stride(std::uint32_t d) const { return nest_.operand[1].strides[d]; }
  [[nodiscard]] std::uint64_t distance(std::uint32_t d) const {
    return static_cast<std::uint64_t>(std::abs(stride(d)));
  }
  /// Whether memory goes on in dimension `next` where dimension `d` ends.
  [[nodiscard]] bool goes_on(std::uint32_t operand, std::uint32_t d, std::uint32_t next) const {
    const auto& strides = nest_.operand[operand].strides;
    return own_.box[d] == nest_.shape[d] && own_.box[next] > 1 &&
           strides[next] == strides[d] * static_cast<std::int64_t>(nest_.shape[d]);
  }

  /// The dimensions of runs, and those of columns, which runs may not have.
  bool choose_sides() {
    const std::uint32_t nearest = own_.source_order[own_.rank - 1];
    std::uint32_t d = own_.rank - 1;
    if (stride(nearest) != 1 || nearest == d || own_.box[nearest] < 2) return false;
    own_.side[d] = WeaveSide::run;
    own_.run_elements = own_.box[d];
    for (; d > 0 && d - 1 != nearest && goes_on(0, d, d - 1); --d) {
      own_.side[d - 1] = WeaveSide::run;
      own_.run_elements *= own_.box[d - 1];
    }
    own_.run_dimension = d;
    own_.side[nearest] = WeaveSide::column;
    own_.column_dimension = nearest;
    own_.columns = own_.box[nearest];
    for (std::uint32_t k = own_.rank - 1; k-- > 0;) {
      const std::uint32_t next = own_.source_order[k];
      if (own_.side[next] == WeaveSide::run || !goes_on(1, own_.column_dimension, next)) break;
      own_.side[next] = WeaveSide::column;
      own_.column_dimension = next;
      own_.fused = 1;
      own_.columns *= own_.box[next];
    }
    for (std::uint32_t e = 0; e < own_.rank; ++e) {
      if (own_.side[e] == WeaveSide::other) own_.others *= own_.box[e];
    }
    return own_.run_elements * bytes_ >= least_run && own_.run_elements > 1;
  }

  /// Which dimensions a line spans: columns, and more while it is short. False if it is too long.
  bool lay_lines() {
    std::uint64_t span = 1;
    for (std::uint32_t k = own_.rank; k-- > 0; ++own_.line_dimensions) {
      const std::uint32_t d = own_.source_order[k];
      if (own_.box[d] == 1) continue;
      const bool goes_on = own_.side[d] == WeaveSide::column ||
                           (span * bytes_ < short_line && joins_line(problem_, d, own_.box[d], span));
      if (!goes_on) break;
      span = sat_add(span, sat_mul(own_.box[d] - 1, distance(d)));
      if (sat_mul(span, bytes_) > most_line) return false;
      own_.image_step[d] = static_cast<std::int32_t>(problem_.step(1, d));
      if (stride(d) < 0) own_.below += static_cast<std::uint32_t>(distance(d) * (own_.box[d] - 1)) * bytes_;
    }
    own_.line_bytes = static_cast<std::uint32_t>(span * bytes_);
    const std::uint32_t alignment =
        line_alignment(problem_, own_.box, own_.source_order, own_.line_dimensions);
    apart_ = alignment < image_unit ? image_unit - 1 : 0;
    own_.line_units = (own_.line_bytes + 2 * image_unit - alignment - 1) / image_unit;
    std::uint64_t bits = image_unit | problem_.address[1];
    for (std::uint32_t d = 0; d < own_.rank; ++d) {
      const bool is_column = own_.side[d] == WeaveSide::column;
      if (is_column && own_.box[d] == nest_.shape[d]) continue;
      bits |= static_cast<std::uint64_t>(problem_.step(1, d)) * (is_column ? own_.box[d] : 1);
    }
    own_.image_alignment = 1U << std::countr_zero(bits);
    // Blocks of 16 columns of bytes that are shifted into place would need more registers than there are.
    const std::uint32_t wide = bytes_ == 1 && own_.image_alignment < image_unit ? image_unit / 2 : image_unit;
    own_.group_bytes = own_.columns * bytes_ < short_group ? std::max(word_bytes, bytes_) : wide;
    return true;
  }

  /// Which words the lanes of a warp store: what wastes the fewest.
  void arrange_threads() {
    own_.staggered = bytes_ < word_bytes && run_alignment() < word_bytes ? 1 : 0;
    const std::uint32_t before = own_.staggered != 0 ? own_.in_word() - 1 : 0;
    own_.words = static_cast<std::uint32_t>(ceil_div(own_.run_elements + before, own_.in_word()));
    std::uint32_t least = UINT32_MAX;
    for (std::uint32_t log = 5; log >= 3; --log) {
      const std::uint32_t along = (1U << log) - own_.staggered;
      const auto strips = static_cast<std::uint32_t>(
          std::max<std::uint64_t>(ceil_div(own_.words - own_.staggered, along), 1));
      const std::uint32_t taken = strips * ((1U << log) + strip_lanes);
      if (taken >= least) continue;
      least = taken;
      own_.lanes = 1U << log;
      own_.strips = strips;
    }
    choose_chunk();
  }

  /// As many tiles as make waves of CTAs end together: what a CTA does before its first tile costs about as
  /// much as a tile.
  [[nodiscard]] std::uint32_t best_tiles_per_cta(std::uint64_t all) const {
    const std::uint64_t at_once = std::max<std::uint64_t>(std::uint64_t{resident} * problem_.sm_count, 1);
    std::uint64_t best = 1;
    std::uint64_t least = UINT64_MAX;
    for (std::uint64_t tiles = 1; tiles <= most_weave_tiles; ++tiles) {
      const std::uint64_t taken = ceil_div(ceil_div(all, tiles), at_once) * (tiles + 1);
      if (taken >= least) continue;
      least = taken;
      best = tiles;
    }
    return static_cast<std::uint32_t>(best);
  }

  /// Groups of columns that a thread takes one after the other: what the CTA's threads do in the fewest
  /// steps.
  void choose_chunk() {
    const std::uint32_t teams = weave_threads / own_.lanes;
    std::uint64_t least = UINT64_MAX;
    for (std::uint32_t chunk = own_.groups();; chunk = chunk / 2 + chunk % 2) {
      const std::uint64_t items = std::uint64_t{own_.strips} * ceil_div(own_.groups(), chunk) * own_.others;
      const std::uint64_t steps =
          ceil_div(items, teams) *
          (item_issue + std::uint64_t{chunk} * (group_issue + column_issue * own_.in_group()));
      if (steps < least) {
        least = steps;
        own_.groups_together = chunk;
      }
      if (chunk == 1) break;
    }
  }

  /// Bytes that every run of the destination begins at multiples of.
  [[nodiscard]] std::uint32_t run_alignment() const {
    std::uint64_t bits = word_bytes | problem_.address[0];
    for (std::uint32_t d = 0; d < own_.rank; ++d) {
      const bool in_run = own_.side[d] == WeaveSide::run;
      if (in_run && own_.box[d] == nest_.shape[d]) continue;
      bits |= static_cast<std::uint64_t>(problem_.step(0, d)) * (in_run ? own_.box[d] : 1);
    }
    return 1U << std::countr_zero(bits);
  }

  /// Places lines with so many times 16 bytes more between those of dimension `first`. A line begins as far
  /// from a multiple of 16 bytes as in memory, and never in the 16 bytes where another ends. False if that
  /// takes too much memory.
  bool place_lines(std::uint32_t first, std::uint32_t gap) {
    std::uint64_t span = own_.line_bytes;
    own_.line_count = 1;
    for (std::uint32_t k = own_.rank - own_.line_dimensions; k-- > 0;) {
      const std::uint32_t d = own_.source_order[k];
      if (stride(d) == 0 || own_.box[d] == 1) continue;
      const std::uint64_t step = line_step(span + apart_, static_cast<std::uint64_t>(problem_.step(1, d))) +
                                 (d == first ? std::uint64_t{gap} * image_unit : 0);
      own_.image_step[d] = static_cast<std::int32_t>(step);
      own_.line_count *= own_.box[d];
      span += (own_.box[d] - 1) * step;
      if (d == own_.skewed) span += (own_.box[d] - 1) / own_.skew_every * image_unit;
      if (span > most_image) return false;
    }
    // A group of columns, and a word after it, are read even where a line ends within them.
    const std::uint64_t read = span + apart_ + image_unit + word_bytes;
    own_.image_bytes = static_cast<std::uint32_t>(round_up(read, std::uint64_t{image_unit}));
    return true;
  }

  /// Where lines begin in the image: those of a run's innermost dimension as far apart as lets threads side
  /// by side meet all banks.
  bool lay_image() {
    std::uint32_t first = own_.rank;  // that dimension; the rank if a line spans the run
    for (std::uint32_t d = own_.rank; d-- > own_.run_dimension && first == own_.rank;) {
      if (!own_.spans(d) && stride(d) != 0 && own_.box[d] > 1) first = d;
    }
    const std::uint32_t width = std::min(std::max(own_.image_alignment, word_bytes), own_.group_bytes);
    // Of one of a warp's loads: lanes read the same columns of every in_word-th element of a run.
    const LaneIndices indices(own_.box, own_.run_dimension, own_.rank, own_.in_word(), own_.lanes);
    WeaveFacts best;
    for (const std::uint32_t skew : skews) {
      if (skew != 0 && (first == own_.rank || own_.box[first] <= skew)) continue;
      own_.skewed = skew != 0 ? first : max_view_rank;
      own_.skew_every = std::max(skew, 1U);
      for (std::uint32_t gap = 0; gap < most_gaps && wavefronts_ > width / word_bytes; ++gap) {
        if (!place_lines(first, gap)) break;
        const std::uint32_t found =
            RunPlaces(own_.image(), indices).wavefronts(width, own_.lanes, own_.group_bytes, wavefronts_);
        if (found < wavefronts_) {
          wavefronts_ = found;
          best = own_;
        }
        if (first == own_.rank) break;
      }
    }
    own_ = best;
    return wavefronts_ != UINT32_MAX;
  }

  const Problem& problem_;
  const CanonicalNest& nest_;
  std::uint32_t bytes_;
  WeaveFacts own_;
  std::uint64_t apart_ = 0;  ///< bytes that a line may begin later than it does here
  std::uint32_t wavefronts_ = UINT32_MAX;
};

}  // namespace

bool WeaveFacts::spans(std::uint32_t d) const noexcept {
  const auto end = source_order.begin() + rank;
  return std::find(end - line_dimensions, end, d) != end;
}

LineImage WeaveFacts::image() const noexcept {
  return {.box = box,
          .step = image_step,
          .rank = rank,
          .run_dimension = run_dimension,
          .skewed = skewed,
          .skew_every = skew_every,
          .below = below};
}

std::optional<WeaveLayout> weave_layout(const Problem& problem, const PerDimension& box) {
  return LayoutPlanner(problem, box).plan();
}

TMAJIT_END
