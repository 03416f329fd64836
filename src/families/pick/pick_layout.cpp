#include "families/pick/pick_layout.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <optional>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t unit = 16;  // bytes that come to the image at once
constexpr std::uint32_t lanes = 32;
constexpr std::uint64_t sector = 32;  // bytes
constexpr std::uint32_t warps = pick_threads / lanes;
constexpr std::uint32_t threads_log = std::countr_zero(pick_threads);
constexpr std::uint32_t most_image = 32 * 1024;         // bytes
constexpr std::uint32_t most_elements = 32 * 1024 - 1;  // of a part: a table counts them in 16 bits
constexpr std::uint32_t skew_log = 3;                   // of the lines from one gap of the image to the next
constexpr std::uint32_t enough_banks = 8;               // for a line to go on where the next dimension begins
constexpr std::uint32_t enough_wavefronts = 2;          // of an access: a larger gap would gain little
constexpr std::uint32_t most_gaps = 4;                  // that are tried, each 16 bytes more
constexpr std::uint32_t skewed_lanes = 8;               // that go along a run where its lines have gaps
constexpr std::uint32_t least_lanes_log = 3;
// Instructions of a word, of each of its elements, and of what begins a chunk.
constexpr std::uint64_t word_issue = 6;
constexpr std::uint64_t element_issue = 5;
constexpr std::uint64_t chunk_issue = 40;
constexpr std::uint32_t enough_runs = 16;       // of a tile: parts of them are not needed
constexpr std::uint32_t enough_parts = 64;      // of a tile: more would not make the table of places cheaper
constexpr std::uint32_t least_part_words = 64;  // what some warps store at once
static_assert(least_part_words >= lanes);
constexpr std::uint32_t line_entry = 8;  // bytes of the tables, where offsets take 32 bits ...
constexpr std::uint32_t chunk_entry = 16;
constexpr std::uint32_t wide_more = 16;  // ... at most, where they take 64
constexpr std::uint32_t place_entry = 4;
constexpr std::uint32_t least_waves = 16;  // CTAs that each SM does at least, before one does several tiles
constexpr std::uint64_t most_tiles_per_cta = 8;

/// n over a power of two, up to the next whole number.
std::uint64_t shifted_up(std::uint64_t n, std::uint32_t log) {
  return (n + (std::uint64_t{1} << log) - 1) >> log;
}

class LayoutPlanner {
 public:
  LayoutPlanner(const Problem& problem, const PerDimension& box)
      : problem_(problem), nest_(problem.nest), bytes_(problem.element_bytes(0)) {
    own_.rank = nest_.rank;
    own_.element_bytes = bytes_;
    own_.box = box;
    own_.source_order = farthest_first(nest_, 1, nest_.rank);
  }

  std::optional<PickLayout> plan() {
    join_runs();
    lay_lines();
    if (!lay_image()) return std::nullopt;
    choose_part();
    if (own_.part_elements > most_elements) return std::nullopt;
    std::uint64_t image = own_.line_bytes + (own_.line_alignment < unit ? unit - 1 : 0);
    for (std::uint32_t d = 0; d < own_.rank; ++d) image += beyond(d, own_.box[d]);
    own_.image_bytes = sat_cast<std::uint32_t>(round_up(image, unit));
    own_.tiles = product(tile_counts(nest_, own_.box, own_.rank), own_.rank);
    own_.tiles_per_cta = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        own_.tiles / std::max<std::uint64_t>(std::uint64_t{least_waves} * problem_.sm_count, 1), 1,
        most_tiles_per_cta));
    own_.images = own_.tiles_per_cta > 1 ? 2 : 1;
    // Before the threads, which take longest to arrange.
    if (std::uint64_t{own_.images} * own_.image_bytes > most_pick_bytes) return std::nullopt;
    arrange_threads();
    const std::uint32_t more = has_wide_offsets(problem_, own_.box, 0) ? wide_more : 0;
    const std::uint64_t tables =
        std::uint64_t{own_.lines} * (line_entry + more) + std::uint64_t{own_.chunks} * (chunk_entry + more) +
        place_entry * (std::uint64_t{own_.words} + 1) * in_word() +
        own_.tiles_per_cta * round_up(24 + 4 * std::uint64_t{own_.rank}, std::uint64_t{16});
    own_.bytes = sat_cast<std::uint32_t>(std::uint64_t{own_.images} * own_.image_bytes + tables);
    if (own_.bytes > most_pick_bytes) return std::nullopt;
    return own_;
  }

 private:
  [[nodiscard]] std::int64_t stride(std::uint32_t d) const { return nest_.operand[1].strides[d]; }
  [[nodiscard]] std::uint64_t distance(std::uint32_t d) const {
    return static_cast<std::uint64_t>(std::abs(stride(d)));
  }
  [[nodiscard]] std::uint32_t in_word() const { return std::max(4 / bytes_, 1U); }

  /// Runs of the tile that follow each other in the destination are one.
  void join_runs() {
    const auto& strides = nest_.operand[0].strides;
    std::uint32_t d = own_.rank - 1;
    own_.run_elements = own_.box[d];
    while (d > 0 && own_.box[d - 1] > 1 && own_.box[d] == nest_.shape[d] &&
           strides[d - 1] == strides[d] * static_cast<std::int64_t>(nest_.shape[d])) {
      --d;
      own_.run_elements *= own_.box[d];
    }
    own_.run_dimension = d;
    for (std::uint32_t k = 0; k < d; ++k) own_.runs *= own_.box[k];
  }

  /// Whether a line of `span` elements goes on in a dimension of the tile: what it skips is little, and, if
  /// it runs backwards, the tile takes all of it.
  [[nodiscard]] bool joins_line(std::uint32_t d, std::uint64_t span) const {
    if (stride(d) == 0 || (stride(d) < 0 && own_.box[d] < nest_.shape[d])) return false;
    if (distance(d) > span && (distance(d) - span) * bytes_ > most_line_gap) return false;
    return span * bytes_ < unit || banks_met(distance(d) * bytes_) >= enough_banks;
  }
  /// Banks that threads side by side along a run meet whose elements lie so many bytes apart.
  [[nodiscard]] std::uint32_t banks_met(std::uint64_t step) const {
    return lanes / std::gcd(lanes, static_cast<std::uint32_t>(step * in_word() / 4 % lanes));
  }

  /// Which dimensions a line spans, and its bytes.
  void lay_lines() {
    std::uint64_t span = 1;
    for (std::uint32_t k = own_.rank; k-- > 0; ++own_.line_dimensions) {
      const std::uint32_t d = own_.source_order[k];
      if (own_.box[d] == 1) continue;
      if (!joins_line(d, span)) break;
      span = sat_add(span, sat_mul(own_.box[d] - 1, distance(d)));
      if (span > most_image) break;
      own_.image_step[d] = static_cast<std::int32_t>(stride(d) * std::int64_t{bytes_});
      if (stride(d) < 0) own_.below += static_cast<std::uint32_t>(distance(d) * (own_.box[d] - 1)) * bytes_;
    }
    own_.line_bytes = sat_cast<std::uint32_t>(sat_mul(span, bytes_));
    own_.line_alignment = line_alignment();
    own_.line_units = static_cast<std::uint32_t>(
        ceil_div(std::uint64_t{own_.line_bytes} + unit - own_.line_alignment, unit));
  }

  /// Of every line's first byte, at most 16.
  [[nodiscard]] std::uint32_t line_alignment() const {
    std::uint64_t bits = unit | problem_.address[1];
    for (std::uint32_t d = 0; d < own_.rank; ++d) {
      auto step = static_cast<std::uint64_t>(stride(d)) * bytes_;
      if (own_.spans(d)) {
        // Tiles begin so far apart; a line that runs backwards, taken whole, begins with its last.
        step *= own_.box[d] < nest_.shape[d] ? own_.box[d] : stride(d) < 0 ? nest_.shape[d] - 1 : 0;
      }
      bits |= step;
    }
    return 1U << std::countr_zero(bits);
  }

  /// Bytes of the image from the first to the last index of a dimension that takes lines apart.
  [[nodiscard]] std::uint64_t beyond(std::uint32_t d, std::uint64_t indices) const {
    if (own_.spans(d) || own_.image_step[d] == 0) return 0;
    return (indices - 1) * static_cast<std::uint64_t>(own_.image_step[d]) +
           (d == own_.skewed ? ((indices - 1) >> own_.skew_log) * unit : 0);
  }

  /// Where lines begin in the image: those of a run's innermost dimension as far apart as lets threads side
  /// by side meet enough banks.
  bool lay_image() {
    if (own_.line_bytes > most_image) return false;
    const std::uint32_t first = first_of_run();
    if (first == own_.rank) return place_lines(first, 0);
    std::uint32_t best = 0;
    std::uint32_t last = 0;
    std::uint32_t least = UINT32_MAX;
    for (std::uint32_t gap = 0; gap < most_gaps && least > std::max(bytes_, enough_wavefronts); ++gap) {
      last = gap;
      if (!place_lines(first, gap)) break;
      const std::uint32_t along = own_.skewed < own_.rank ? skewed_lanes : lanes;
      const RunPlaces places(own_.image(), in_word(), own_.run_elements);
      const std::uint32_t taken = places.banks_taken(bytes_, along, 0);
      if (taken >= least) continue;
      least = taken;
      best = gap;
      places_ = places;
    }
    // The lines lie so already if no gap after the best was tried.
    return (places_ && last == best) || place_lines(first, best);
  }

  /// The same with so many times 16 bytes more between the lines of dimension `first`. A line begins as far
  /// from a multiple of 16 bytes as in memory, and never in the 16 bytes where another ends.
  bool place_lines(std::uint32_t first, std::uint32_t gap) {
    const std::uint64_t apart = own_.line_alignment < unit ? unit - 1 : 0;
    std::uint64_t span = own_.line_bytes;
    own_.lines = 1;
    own_.skewed = max_view_rank;
    own_.skew_log = no_skew;
    for (std::uint32_t k = own_.rank - own_.line_dimensions; k-- > 0;) {
      const std::uint32_t d = own_.source_order[k];
      if (stride(d) == 0 || own_.box[d] == 1) continue;
      own_.lines *= own_.box[d];
      const std::uint64_t step =
          line_step(span + apart, static_cast<std::uint64_t>(stride(d)) * std::uint64_t{bytes_}) +
          (d == first ? std::uint64_t{gap} * unit : 0);
      own_.image_step[d] = static_cast<std::int32_t>(step);
      // Threads side by side along a run would meet few banks if the lines that they read lay so.
      const std::uint64_t few = bytes_ == 1 ? 8 : 16;
      if (d == first && bytes_ < 4 && step % few == 0 && own_.box[d] >= 2U << skew_log) {
        own_.skewed = d;
        own_.skew_log = skew_log;
      }
      span += beyond(d, own_.box[d]);
      if (span > most_image + most_image / 2) return false;
    }
    return true;
  }

  /// The innermost dimension of a run that changes lines, if threads side by side meet several of its
  /// indices; else the rank.
  [[nodiscard]] std::uint32_t first_of_run() const {
    std::uint64_t inner = 1;
    for (std::uint32_t d = own_.rank; d-- > own_.run_dimension && inner < lanes; inner *= own_.box[d]) {
      if (!own_.spans(d) && stride(d) != 0 && own_.box[d] > 1) return d;
    }
    return own_.rank;
  }

  /// Long runs are parts of whole words that are the same but for their place, so that one table serves all.
  void choose_part() {
    own_.part_elements = own_.run_elements;
    const std::uint32_t d = own_.run_dimension;
    const std::uint32_t inner = own_.run_elements / own_.box[d];
    const std::uint64_t wanted =
        ceil_div(std::uint64_t{own_.run_elements}, ceil_div(enough_parts, std::uint64_t{own_.runs}));
    const std::uint64_t least = std::max(wanted, std::uint64_t{least_part_words} * in_word());
    const std::uint32_t whole_words = in_word() / std::gcd(in_word(), inner);
    const std::uint32_t step = d == own_.skewed ? std::max(whole_words, 1U << own_.skew_log) : whole_words;
    const std::uint64_t part = round_up(ceil_div(least, std::uint64_t{inner}), std::uint64_t{step});
    if (own_.runs >= enough_runs || 2 * part > own_.box[d]) return;
    own_.part = static_cast<std::uint32_t>(part);
    own_.parts = static_cast<std::uint32_t>(ceil_div(std::uint64_t{own_.box[d]}, part));
    own_.part_elements = own_.part * inner;
  }

  /// The dimension outside of runs that is nearest in the source; 0 if all have one index.
  [[nodiscard]] std::uint32_t nearest_of_runs() const {
    for (std::uint32_t k = own_.rank; k-- > 0;) {
      const std::uint32_t d = own_.source_order[k];
      if (d < own_.run_dimension && own_.box[d] > 1) return d;
    }
    return 0;
  }

  /// What a word of each lane costs, in quarters of an SM's cycle: mostly the longest of what is issued, the
  /// banks, and the sectors that the stores meet.
  [[nodiscard]] std::uint64_t word_cost(std::uint32_t lanes_log, std::uint32_t taken) const {
    const std::uint64_t issued = word_issue + element_issue * in_word();
    const std::uint64_t banks = std::uint64_t{4} * in_word() * taken;
    const std::uint64_t run_bytes = std::uint64_t{std::max(bytes_, 4U)} << lanes_log;
    const std::uint64_t sectors = 2 * (lanes >> lanes_log) * (run_bytes / sector + 1);
    return std::max({issued, banks, sectors}) + (issued + banks + sectors) / 8;
  }

  /// Which words and chunks of runs the threads do: what takes the fewest steps.
  void arrange_threads() {
    own_.words = static_cast<std::uint32_t>(
        ceil_div(std::uint64_t{own_.part_elements} + in_word() - 1, std::uint64_t{in_word()}));
    own_.along = nearest_of_runs();
    std::uint64_t indices = own_.parts;
    std::uint64_t others = own_.runs;
    std::uint32_t alike = 1;  // indices apart that lie alike in their words
    const bool by_runs = own_.parts == 1 && own_.runs > 1;
    if (by_runs) {
      indices = own_.box[own_.along];
      others = own_.runs / indices;
      const auto step = static_cast<std::uint64_t>(nest_.operand[0].strides[own_.along]);
      alike = in_word() / std::gcd(in_word(), static_cast<std::uint32_t>(step % in_word()));
    }
    // A part, too, has words for all lanes of a warp.
    if (!places_) places_.emplace(own_.image(), in_word(), own_.run_elements);
    const std::int64_t across_image = own_.along_image();
    std::uint64_t least = UINT64_MAX;
    for (std::uint32_t lanes_log = 5; lanes_log >= least_lanes_log; --lanes_log) {
      // Lanes that do not go along a run do neighbouring runs, which lie near each other in the source.
      const std::uint32_t across = lanes >> lanes_log;
      const std::uint32_t every = by_runs && indices >= across ? std::max(alike, across) : alike;
      const auto most = static_cast<std::uint32_t>(ceil_div(indices, std::uint64_t{every}));
      const std::uint32_t taken = places_->banks_taken(bytes_, 1U << lanes_log, across_image);
      const std::uint64_t word = word_cost(lanes_log, taken);
      for (std::uint32_t chunk = most;; chunk = chunk / 2 + chunk % 2) {
        const std::uint32_t along = every * ((most - 1) / chunk + 1);
        for (std::uint32_t side = 0; warps >> side > 0; ++side) {
          // All these are powers of two: what threads do of a run at a time, and how many runs.
          const std::uint64_t words = shifted_up(own_.words, lanes_log + side);
          const std::uint64_t rows = shifted_up(along * others, threads_log - lanes_log - side);
          const std::uint64_t steps = words * rows * (chunk * word + chunk_issue);
          if (steps < least) {
            least = steps;
            own_.lanes_log = lanes_log;
            own_.banks_taken = taken;
            own_.warps_log = side;
            own_.every = every;
            own_.chunk = chunk;
            own_.chunks_along = along;
          }
        }
        if (chunk == 1) break;
      }
    }
    own_.chunks = own_.chunks_along * static_cast<std::uint32_t>(others);
  }

  const Problem& problem_;
  const CanonicalNest& nest_;
  std::uint32_t bytes_;
  PickLayout own_;
  std::optional<RunPlaces> places_;  ///< of the first lanes along a run, in the image as it is
};

}  // namespace

bool PickLayout::spans(std::uint32_t d) const noexcept {
  const auto end = source_order.begin() + rank;
  return std::find(end - line_dimensions, end, d) != end;
}

LineImage PickLayout::image() const noexcept {
  return {.box = box,
          .step = image_step,
          .rank = rank,
          .run_dimension = run_dimension,
          .skewed = skewed,
          .skew_every = 1U << skew_log,
          .below = below};
}

std::int32_t PickLayout::along_image() const noexcept {
  return parts > 1 ? static_cast<std::int32_t>(image().bytes_to(run_dimension, part)) : image_step[along];
}

std::optional<PickLayout> pick_layout(const Problem& problem, const PerDimension& box) {
  return LayoutPlanner(problem, box).plan();
}

TMAJIT_END
