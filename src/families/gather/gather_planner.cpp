#include "families/gather/gather_layout.hpp"
#include "families/shared/line_image.hpp"
#include "families/shared/source_lines.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <optional>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t sector = 32;        // bytes
constexpr std::uint64_t store_bytes = 128;  // of a run, by eight threads
constexpr std::uint32_t unit = 16;          // bytes
constexpr std::uint32_t lanes = 32;
constexpr std::uint32_t most_shared =
    32 * 1024;                            // of an image and its table: six CTAs an SM; places are 16 bits
constexpr std::uint32_t most_run = 2048;  // elements that one index more is joined to
constexpr std::uint32_t most_filled = 16 * 1024;  // bytes of a tile, unless its runs and lines make it larger
constexpr std::uint64_t most_small = 4;           // runs of a tile that are few
constexpr std::uint32_t most_threads = 256;
constexpr std::uint32_t least_skewed = 8;  // lines from one gap of the image to the next

/// Lanes of a warp along a run. Runs side by side meet other banks than what lies along them; stores want 128
/// bytes that follow each other.
std::uint32_t lanes_along(std::uint32_t slots, std::uint32_t runs) {
  const std::uint32_t across = std::min(std::bit_floor(runs), 4U);
  const std::uint32_t wanted = lanes / across;
  std::uint32_t along = 4;
  while (along < wanted && along < slots) along *= 2;
  return along;
}

/// How many of a CTA's warps go side by side along a run of `groups` times what a warp stores of it: what
/// takes the fewest steps, then what changes places least often.
std::uint32_t best_warps_along(std::uint32_t warps, std::uint32_t groups, std::uint32_t runs) {
  std::uint32_t best = 1;
  std::uint64_t least = UINT64_MAX;
  for (std::uint32_t along = 1; along <= warps; ++along) {
    if (warps % along != 0) continue;
    const std::uint64_t steps = ceil_div(groups, along) * ceil_div(runs, warps / along);
    if (steps > least) continue;
    least = steps;
    best = along;
  }
  return best;
}

class GatherPlanner {
 public:
  GatherPlanner(const Problem& problem, const GatherTuning& tuning)
      : problem_(problem), nest_(problem.nest), bytes_(problem.element_bytes(0)) {
    facts_.rank = nest_.rank;
    facts_.element_bytes = bytes_;
    std::fill_n(facts_.box.begin(), facts_.rank, 1U);
    facts_.source_order = farthest_first(nest_, 1, nest_.rank);
    facts_.column = facts_.source_order[nest_.rank - 1];
    lengthen_runs(std::max<std::uint64_t>(tuning.destination_run / bytes_, 1));
    lengthen_lines(std::max<std::uint64_t>(tuning.source_run / bytes_, 1));
    fill_up(std::uint64_t{tuning.destination_run} * tuning.source_run / bytes_ / bytes_ / 2);
    join_runs();
    lay_lines();
  }

  /// Nullopt if the image is too large.
  std::optional<GatherFacts> plan() {
    if (!lay_image()) return std::nullopt;
    align_runs();
    choose_part();
    facts_.threads = most_threads;
    const GatherLayout layout(facts_);
    if (layout.bytes > most_shared) return std::nullopt;
    const std::uint64_t vectors = std::uint64_t{layout.slots} * layout.parts * layout.runs;
    facts_.threads = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(std::bit_ceil(ceil_div(vectors, 2)), 32, most_threads));
    facts_.wide_offsets = has_wide_offsets(problem_, facts_.box, facts_.vector()) ? 1 : 0;
    return facts_;
  }

 private:
  [[nodiscard]] std::int64_t stride(std::uint32_t d) const { return nest_.operand[1].strides[d]; }
  [[nodiscard]] std::uint64_t distance(std::uint32_t d) const {
    return static_cast<std::uint64_t>(std::abs(stride(d)));
  }
  /// Whether the destination goes on with the dimension before where `d` ends.
  [[nodiscard]] bool goes_on(std::uint32_t d) const {
    const auto& strides = nest_.operand[0].strides;
    return d > 0 && strides[d - 1] == strides[d] * static_cast<std::int64_t>(nest_.shape[d]);
  }

  /// A part of an extent of about so many indices: all parts equally long, and whole sectors of memory if
  /// that adds little.
  [[nodiscard]] std::uint32_t part_of(std::uint32_t d, std::uint64_t wanted, std::uint64_t inner) const {
    const std::uint64_t extent = nest_.shape[d];
    if (wanted >= extent) return static_cast<std::uint32_t>(extent);
    const std::uint64_t part = ceil_div(extent, ceil_div(extent, wanted));
    const std::uint64_t whole = sector / std::gcd(sector, inner * bytes_);
    const std::uint64_t rounded = round_up(part, whole);
    return static_cast<std::uint32_t>(rounded <= extent && rounded <= 2 * part ? rounded : part);
  }

  /// A part of an extent for runs: from half to twice as many indices as are wanted, so that warps that store
  /// 128 bytes of a run at a time, and the last tile, have little that is empty.
  [[nodiscard]] std::uint32_t run_part_of(std::uint32_t d, std::uint64_t wanted, std::uint64_t inner) const {
    const std::uint64_t extent = nest_.shape[d];
    if (wanted >= extent) return static_cast<std::uint32_t>(extent);
    const bool aligned = begins_aligned(d);
    std::uint64_t best = wanted;
    double most = 0;
    // Of what begins at multiples of 16 bytes whole vectors, if any are so short.
    const std::uint64_t whole_part = unit / std::gcd(std::uint64_t{unit}, inner * bytes_);
    const bool by_vectors = aligned && whole_part <= std::min(extent, 2 * wanted);
    const std::uint64_t step = round_up(std::bit_floor(wanted / 32 | 1), by_vectors ? whole_part : 1);
    for (std::uint64_t part = round_up(ceil_div(wanted, 2), step); part <= std::min(extent, 2 * wanted);
         part += step) {
      const std::uint64_t bytes = part * inner * bytes_;
      const bool whole = aligned && (bytes % unit == 0 || part == extent);
      const std::uint64_t stored = round_up(bytes + (whole ? 0 : unit - bytes_), store_bytes);
      const double in_stores = static_cast<double>(bytes) / static_cast<double>(stored);
      const double of_sectors = whole && bytes % sector != 0 ? 0.9 : 1;
      if (in_stores * of_sectors <= most) continue;  // however full the last tile is
      const double in_tiles = static_cast<double>(extent) / static_cast<double>(round_up(extent, part));
      const double score = in_stores * in_tiles * of_sectors;
      if (score <= most) continue;
      most = score;
      best = part;
    }
    return static_cast<std::uint32_t>(best);
  }

  /// Whether what lies at index 0 of a dimension and those after it begins at multiples of 16 bytes.
  [[nodiscard]] bool begins_aligned(std::uint32_t d) const {
    auto bits = problem_.address[0];
    for (std::uint32_t k = 0; k < d; ++k) bits |= static_cast<DevicePtr>(problem_.step(0, k));
    return bits % unit == 0;
  }

  void lengthen_runs(std::uint64_t wanted) {
    std::uint64_t run = 1;
    for (std::uint32_t d = facts_.rank; d-- > 0;) {
      facts_.box[d] = run_part_of(d, ceil_div(wanted, run), run);
      run *= facts_.box[d];
      if (facts_.box[d] < nest_.shape[d] || run >= wanted || !goes_on(d)) return;
    }
  }

  void lengthen_lines(std::uint64_t wanted) {
    std::uint64_t span = 1;
    for (std::uint32_t k = facts_.rank; k-- > 0 && span < wanted;) {
      const std::uint32_t d = facts_.source_order[k];
      if (stride(d) == 0) return;
      const std::uint64_t more = ceil_div(wanted - span, distance(d)) + 1;
      const std::uint64_t box =
          std::max<std::uint64_t>(facts_.box[d], stride(d) < 0 ? nest_.shape[d] : part_of(d, more, 1));
      if (!joins_line(problem_, d, box, span) || box > most_shared) return;
      facts_.box[d] = static_cast<std::uint32_t>(box);
      span = sat_add(sat_mul(box - 1, distance(d)), span);
    }
  }

  /// Makes the tile larger along the inner dimensions until it has about so many elements.
  void fill_up(std::uint64_t elements) {
    elements = std::min<std::uint64_t>(elements, most_filled / bytes_);
    std::uint64_t held = elements_of(facts_.box, facts_.rank);
    for (std::uint32_t d = facts_.rank; d-- > 0 && held * 2 <= elements;) {
      const std::uint64_t others = held / facts_.box[d];
      const std::uint64_t inner = d + 1 == facts_.rank ? 1 : nest_.shape[d + 1];
      facts_.box[d] = std::max(facts_.box[d], part_of(d, elements / others, inner));
      held = others * facts_.box[d];
    }
  }

  /// Runs of the tile that follow each other in the destination are one.
  void join_runs() {
    std::uint32_t d = facts_.rank - 1;
    std::uint64_t run = facts_.box[d];
    while (goes_on(d) && facts_.box[d] == nest_.shape[d] && run <= most_run) {
      --d;
      run *= facts_.box[d];
    }
    facts_.run_dimension = d;
  }

  /// Which dimensions a line spans, and its bytes.
  void lay_lines() {
    std::uint64_t span = 1;
    std::fill_n(facts_.lines.begin(), facts_.rank, 1U);
    for (std::uint32_t k = facts_.rank; k-- > 0; ++facts_.line_dimensions) {
      const std::uint32_t d = facts_.source_order[k];
      if (facts_.box[d] > 1) {
        if (!joins_line(problem_, d, facts_.box[d], span)) break;
        span = sat_add(span, sat_mul(facts_.box[d] - 1, distance(d)));
        if (span > most_shared) break;
        facts_.image_step[d] = static_cast<std::int32_t>(stride(d) * std::int64_t{bytes_});
      }
    }
    facts_.line_bytes = sat_cast<std::uint32_t>(sat_mul(span, bytes_));
    facts_.line_alignment = line_alignment(problem_, facts_.box, facts_.source_order, facts_.line_dimensions);
  }

  /// Where lines begin in the image: as far from a multiple of 16 bytes as in memory, and never in the 16
  /// bytes where another ends.
  bool lay_image() {
    const std::uint64_t apart = facts_.line_alignment < unit ? unit - 1 : 0;
    std::uint64_t span = facts_.line_bytes;
    facts_.skew_every = std::max(facts_.vector(), least_skewed);
    if (facts_.line_dimensions >= facts_.rank) return span <= most_shared;
    skew_runs();
    for (std::uint32_t k = facts_.rank - facts_.line_dimensions; k-- > 0;) {
      const std::uint32_t d = facts_.source_order[k];
      if (stride(d) == 0 || facts_.box[d] == 1) continue;
      facts_.lines[d] = facts_.box[d];
      const std::uint64_t step =
          line_step(span + apart, static_cast<std::uint64_t>(stride(d)) * std::uint64_t{bytes_});
      facts_.image_step[d] = static_cast<std::int32_t>(step);
      span += (facts_.lines[d] - 1) * step;
      if (d == facts_.skewed) span += (facts_.lines[d] - 1) / facts_.skew_every * unit;
      if (span > most_shared) return false;
    }
    return true;
  }

  /// Threads side by side along a run would meet few banks if the lines that they read were a power of two
  /// apart: those of the run's innermost dimension that changes lines get gaps.
  void skew_runs() {
    for (std::uint32_t d = facts_.rank; d-- > facts_.run_dimension;) {
      const auto end = facts_.source_order.begin() + (facts_.rank - facts_.line_dimensions);
      if (std::find(facts_.source_order.begin(), end, d) == end) continue;
      if (stride(d) == 0 || facts_.box[d] == 1) continue;
      facts_.skewed = d;
      return;
    }
  }

  void align_runs() {
    std::uint64_t in_tile = unit;  // steps from run to run
    std::uint64_t all = unit | problem_.address[0];
    for (std::uint32_t d = 0; d <= facts_.run_dimension; ++d) {
      const auto step = static_cast<std::uint64_t>(problem_.step(0, d));
      if (d < facts_.run_dimension) {
        if (facts_.box[d] > 1) in_tile |= step;
        all |= step;
      } else if (facts_.box[d] < nest_.shape[d]) {
        all |= step * facts_.box[d];
      }
    }
    facts_.same_alignment = in_tile % unit == 0 ? 1 : 0;
    facts_.alignment = 1U << std::countr_zero(all);
  }

  /// Long runs are parts of whole vectors that are the same but for their place, so that a table for one
  /// serves all.
  void choose_part() {
    const std::uint32_t d = facts_.run_dimension;
    std::uint64_t inner = bytes_;
    for (std::uint32_t k = d + 1; k < facts_.rank; ++k) inner *= facts_.box[k];
    std::uint64_t runs = 1;
    for (std::uint32_t k = 0; k < d; ++k) runs *= facts_.box[k];
    const std::uint64_t skew = facts_.skewed == d ? facts_.skew_every : 1;
    for (const std::uint64_t wanted : {store_bytes, std::uint64_t{unit}}) {
      const std::uint64_t step = std::max(wanted / std::gcd(wanted, inner), skew);
      const std::uint64_t part = round_up(ceil_div(store_bytes, inner), step);
      // Where runs are many the table serves them all: parts that leave threads idle are not worth it.
      if (2 * part > facts_.box[d] || (wanted == unit && runs >= most_small)) continue;
      facts_.part = static_cast<std::uint32_t>(part);
      return;
    }
  }

  const Problem& problem_;
  const CanonicalNest& nest_;
  std::uint32_t bytes_;
  GatherFacts facts_;
};

}  // namespace

GatherLayout::GatherLayout(const GatherFacts& facts) noexcept {
  const std::uint32_t vector = facts.vector();
  const bool same_alignment = facts.same_alignment != 0;
  for (std::uint32_t d = 0; d < facts.rank; ++d) {
    (d < facts.run_dimension ? runs : run_elements) *= facts.box[d];
    line_count *= facts.lines[d];
  }
  const bool aligned = facts.alignment == unit;
  const auto most_before = aligned ? 0 : vector - 1;
  slots = static_cast<std::uint32_t>(ceil_div(std::uint64_t{run_elements} + most_before, vector));
  if (facts.part != 0) {
    const std::uint32_t in_part = run_elements / facts.box[facts.run_dimension] * facts.part / vector;
    parts = static_cast<std::uint32_t>(ceil_div(slots, in_part));
    slots = in_part;
  }
  slots_along = lanes_along(slots, runs * parts);
  const auto groups = static_cast<std::uint32_t>(ceil_div(slots, slots_along));
  const auto at_once = static_cast<std::uint32_t>(ceil_div(runs * parts, lanes / slots_along));
  warps_along = best_warps_along(std::max(facts.threads / lanes, 1U), groups, at_once);
  // Runs that begin differently read the table from elsewhere: it is one piece, with a vector more before it.
  // Else the places of a warp's slots lie an odd number of words apart, in different banks.
  places = (same_alignment ? slots : slots + 1) * vector;
  place_pitch = same_alignment && vector > 2 ? vector + 2 : vector;

  std::uint64_t end = facts.line_bytes + (facts.line_alignment < unit ? unit - 1 : 0);
  for (std::uint32_t d = 0; d < facts.rank; ++d) {
    if (facts.lines[d] == 1) continue;
    end += std::uint64_t{facts.lines[d] - 1} * static_cast<std::uint64_t>(facts.image_step[d]);
    if (d == facts.skewed) end += std::uint64_t{(facts.lines[d] - 1) / facts.skew_every} * unit;
  }
  image_bytes = sat_cast<std::uint32_t>(round_up(end, unit));
  const std::uint64_t table = ceil_div(places, vector) * place_pitch * 2;
  bytes = sat_cast<std::uint32_t>(sat_add(image_bytes, round_up(table, unit)));
}

bool takes_gather(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (!takes_lines(problem)) return false;
  const std::uint32_t last = nest.rank - 1;
  if (is_short(problem, last)) {
    return nest.operand[0].strides[last - 1] == static_cast<std::int64_t>(nest.shape[last]);
  }
  for (std::uint32_t d = 0; d < last; ++d) {
    if (std::abs(nest.operand[1].strides[d]) == 1 && is_short(problem, d)) return true;
  }
  return false;
}

std::optional<GatherFacts> plan_gather(const Problem& problem, const GatherTuning& tuning) {
  return GatherPlanner(problem, tuning).plan();
}

TMAJIT_END
