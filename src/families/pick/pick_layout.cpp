#include "families/pick/pick_layout.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t lanes = 32;
constexpr std::uint64_t sector = 32;  // bytes
constexpr std::uint32_t warps = pick_threads / lanes;
constexpr std::uint32_t threads_log = std::countr_zero(pick_threads);
constexpr std::uint32_t most_elements = 32 * 1024 - 1;  // of a part: a table counts them in 16 bits
constexpr std::uint32_t least_lanes_log = 3;
// Instructions of a word, of each of its elements, and of what begins a chunk.
constexpr std::uint64_t word_issue = 6;
constexpr std::uint64_t element_issue = 5;
constexpr std::uint64_t chunk_issue = 40;
constexpr std::uint32_t enough_runs = 16;       // of a tile: parts of them are not needed
constexpr std::uint32_t enough_parts = 64;      // of a tile: more would not make the table of places cheaper
constexpr std::uint32_t least_part_words = 64;  // what some warps store at once
static_assert(least_part_words >= lanes);       // so that all lanes of a warp find words in a part
constexpr std::uint32_t place_entry = 4;
constexpr std::uint32_t least_waves = 16;  // CTAs that each SM does at least, before one does several tiles
constexpr std::uint64_t most_tiles_per_cta = 8;

/// n over a power of two, up to the next whole number.
std::uint64_t shifted_up(std::uint64_t n, std::uint32_t log) {
  return (n + (std::uint64_t{1} << log) - 1) >> log;
}

/// Bytes of the tables' entries (templates/kernels/pick_tables.cuh), or a few more.
struct EntryBytes {
  std::uint64_t line = 0;
  std::uint64_t chunk = 0;
  std::uint64_t tile = 0;

  EntryBytes(const Problem& problem, bool wide_offsets) {
    const std::uint64_t offset = wide_offsets ? 8 : 4;
    const std::uint64_t sources = problem.sources();
    const bool padded = problem.nest.windowed;
    line = 2 * offset * (padded ? 2 : 1);  // a table each for two tiles
    chunk = round_up(offset + 4 * sources + 6, 16);
    tile = round_up(8 * (sources + 3) + 4 * std::uint64_t{problem.nest.rank} * (padded ? 3 : 1), 16);
  }
};

/// The first source that does not go on where the destination's rows do; the first, if all do.
std::uint32_t lead_of(const Problem& problem) {
  for (std::uint32_t s = 0; s < problem.sources(); ++s) {
    if (lies_across(problem, s + 1)) return s;
  }
  return 0;
}

class LayoutPlanner {
 public:
  LayoutPlanner(const Problem& problem, const PerDimension& box)
      : problem_(problem), nest_(problem.nest), bytes_(problem.element_bytes(0)) {
    own_.rank = nest_.rank;
    own_.element_bytes = bytes_;
    own_.box = box;
    own_.run.in_word = std::max(4 / bytes_, 1U);
    own_.sources = problem.sources();
  }

  std::optional<PickLayout> plan() {
    join_runs();
    if (!lay_sources()) return std::nullopt;
    choose_part();
    if (own_.part_elements > most_elements) return std::nullopt;
    own_.tiles = product(tile_counts(nest_, own_.box, own_.rank), own_.rank);
    own_.tiles_per_cta = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        own_.tiles / std::max<std::uint64_t>(std::uint64_t{least_waves} * problem_.sm_count, 1), 1,
        most_tiles_per_cta));
    own_.images = own_.tiles_per_cta > 1 ? 2 : 1;
    // Before the threads, which take longest to arrange.
    if (std::uint64_t{own_.images} * own_.image_bytes > most_pick_bytes) return std::nullopt;
    arrange_threads();
    own_.wide_offsets = has_wide_offsets(problem_, own_.box, 16);
    const EntryBytes entry(problem_, own_.wide_offsets);
    const std::uint64_t tables = own_.lines * entry.line + own_.chunks * entry.chunk +
                                 own_.tiles_per_cta * entry.tile +
                                 place_entry * own_.sources * (std::uint64_t{own_.words} + 1) * in_word();
    own_.bytes = sat_cast<std::uint32_t>(std::uint64_t{own_.images} * own_.image_bytes + tables);
    if (own_.bytes > most_pick_bytes) return std::nullopt;
    return own_;
  }

 private:
  [[nodiscard]] std::uint32_t in_word() const { return own_.run.in_word; }
  [[nodiscard]] std::span<const PickLines> sources() const {
    return std::span(own_.source).first(own_.sources);
  }

  /// The lines and images of all sources.
  bool lay_sources() {
    own_.lines = 0;
    own_.lead = lead_of(problem_);
    for (std::uint32_t s = 0; s < own_.sources; ++s) {
      const std::optional<PlacedLines> placed = pick_lines(problem_, s + 1, own_.box, own_.run);
      if (!placed) return false;
      PickLines& source = own_.source[s];
      source = placed->lines;
      places_[s] = placed->places;
      source.image = own_.image_bytes;
      source.first = own_.lines;
      own_.image_bytes += source.image_bytes;
      own_.lines += source.count;
    }
    return own_.image_bytes <= most_pick_bytes;
  }

  /// Runs of the tile that follow each other in the destination are one.
  void join_runs() {
    const auto& strides = nest_.operand[0].strides;
    std::uint32_t d = own_.rank - 1;
    own_.run.elements = own_.box[d];
    while (d > 0 && own_.box[d - 1] > 1 && own_.box[d] == nest_.shape[d] &&
           strides[d - 1] == strides[d] * static_cast<std::int64_t>(nest_.shape[d])) {
      --d;
      own_.run.elements *= own_.box[d];
    }
    own_.run.dimension = d;
    for (std::uint32_t k = 0; k < d; ++k) own_.runs *= own_.box[k];
  }

  /// Long runs are parts of whole words that are the same but for their place, so that one table serves all.
  void choose_part() {
    own_.part_elements = own_.run.elements;
    const std::uint32_t d = own_.run.dimension;
    const std::uint32_t inner = own_.run.elements / own_.box[d];
    const std::uint64_t wanted =
        ceil_div(std::uint64_t{own_.run.elements}, ceil_div(enough_parts, std::uint64_t{own_.runs}));
    const std::uint64_t least = std::max(wanted, std::uint64_t{least_part_words} * in_word());
    const std::uint32_t whole_words = in_word() / std::gcd(in_word(), inner);
    std::uint32_t step = whole_words;
    for (const PickLines& source : sources()) {
      if (d == source.skewed) step = std::max(step, 1U << source.skew_log);
    }
    const std::uint64_t part = round_up(ceil_div(least, std::uint64_t{inner}), std::uint64_t{step});
    if (own_.runs >= enough_runs || 2 * part > own_.box[d]) return;
    own_.part = static_cast<std::uint32_t>(part);
    own_.parts = static_cast<std::uint32_t>(ceil_div(std::uint64_t{own_.box[d]}, part));
    own_.part_elements = own_.part * inner;
  }

  /// The dimension outside of runs that is nearest in the leading source; 0 if all have one index.
  [[nodiscard]] std::uint32_t nearest_of_runs() const {
    for (std::uint32_t k = own_.rank; k-- > 0;) {
      const std::uint32_t d = own_.source[own_.lead].order[k];
      if (d < own_.run.dimension && own_.box[d] > 1) return d;
    }
    return 0;
  }

  /// What a word of each lane costs, in quarters of an SM's cycle: mostly the longest of what is issued, the
  /// banks, and the sectors that the stores meet.
  [[nodiscard]] std::uint64_t word_cost(std::uint32_t lanes_log, std::uint32_t taken) const {
    const std::uint64_t issued = word_issue + element_issue * in_word() * own_.sources;
    const std::uint64_t banks = std::uint64_t{4} * in_word() * taken;
    const std::uint64_t run_bytes = std::uint64_t{std::max(bytes_, 4U)} << lanes_log;
    const std::uint64_t sectors = 2 * (lanes >> lanes_log) * (run_bytes / sector + 1);
    return std::max({issued, banks, sectors}) + (issued + banks + sectors) / 8;
  }

  /// How often accesses for an element take the banks where so many lanes go along a run.
  [[nodiscard]] std::uint32_t banks_of_sources(std::uint32_t lanes_log) const {
    std::uint32_t taken = 0;
    for (std::uint32_t s = 0; s < own_.sources; ++s) {
      taken += places_[s]->banks_taken(own_.source[s].element_bytes, 1U << lanes_log, own_.along_image(s));
    }
    return taken;
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
    std::uint64_t least = UINT64_MAX;
    for (std::uint32_t lanes_log = 5; lanes_log >= least_lanes_log; --lanes_log) {
      // Lanes that do not go along a run do neighbouring runs, which lie near each other in the source.
      const std::uint32_t across = lanes >> lanes_log;
      const std::uint32_t every = by_runs && indices >= across ? std::max(alike, across) : alike;
      const auto most = static_cast<std::uint32_t>(ceil_div(indices, std::uint64_t{every}));
      const std::uint32_t taken = banks_of_sources(lanes_log);
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
  std::array<std::optional<RunPlaces>, max_inputs> places_;  ///< of each source
};

}  // namespace

LineImage PickLayout::image(std::uint32_t s) const noexcept {
  return source[s].layout(box, run.dimension);
}

std::int32_t PickLayout::along_image(std::uint32_t s) const noexcept {
  return parts > 1 ? static_cast<std::int32_t>(image(s).bytes_to(run.dimension, part))
                   : source[s].image_step[along];
}

std::uint64_t PickLayout::line_units() const noexcept {
  std::uint64_t units = 0;
  for (std::uint32_t s = 0; s < sources; ++s) units += std::uint64_t{source[s].count} * source[s].units;
  return units;
}

bool lies_across(const Problem& problem, std::uint32_t operand) noexcept {
  const CanonicalNest& nest = problem.nest;
  const std::uint32_t row = nest.rank - 1;
  const auto& strides = nest.operand[operand].strides;
  if (std::abs(strides[row]) > 1) return true;
  const auto extent = static_cast<std::int64_t>(nest.shape[row]);
  return is_short(problem, row) && nest.operand[0].strides[row - 1] == extent &&
         strides[row - 1] != strides[row] * extent;
}

std::optional<PickLayout> pick_layout(const Problem& problem, const PerDimension& box) {
  return LayoutPlanner(problem, box).plan();
}

TMAJIT_END
