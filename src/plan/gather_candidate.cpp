#include "plan/gather_plan.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t sector = 32;        // bytes
constexpr std::uint64_t store_bytes = 128;  // of a run, by eight threads
constexpr std::uint32_t unit = 16;          // bytes
constexpr std::uint32_t most_shared =
    32 * 1024;                            // of an image and its table: six CTAs an SM; places are 16 bits
constexpr std::uint32_t most_run = 2048;  // elements that one index more is joined to
constexpr std::uint32_t most_filled = 16 * 1024;  // bytes of a tile, unless its runs and lines make it larger
constexpr std::uint64_t most_gap = 32;            // bytes that a line skips rather than end
constexpr std::uint64_t short_run = 64;           // bytes of a dimension that blocks or chunks serve badly
constexpr std::uint64_t most_small = 4;           // runs of a tile that are few
constexpr std::uint32_t most_threads = 256;
constexpr std::uint32_t least_skewed = 8;  // lines from one gap of the image to the next

/// Bytes of a tile's runs in the destination, and of its lines in the source.
constexpr MoveTuning tunings[] = {
    {.destination_run = 256, .source_run = 128}, {.destination_run = 256, .source_run = 256},
    {.destination_run = 512, .source_run = 128}, {.destination_run = 128, .source_run = 256},
    {.destination_run = 128, .source_run = 128}, {.destination_run = 1024, .source_run = 64},
    {.destination_run = 128, .source_run = 64},  {.destination_run = 64, .source_run = 64},
};

/// The smallest value from `least` on that is `like` modulo 16 and an odd number of 16 bytes besides: lines
/// so far apart meet all banks.
std::uint64_t step_from(std::uint64_t least, std::uint64_t like) {
  const std::uint64_t wanted = unit + like % unit;  // modulo 32
  return least + (wanted - least) % (2 * unit);
}

class GatherPlanner {
 public:
  GatherPlanner(const MoveProblem& problem, const MoveTuning& tuning)
      : problem_(problem), nest_(problem.nest), bytes_(problem.element_bytes(0)) {
    kernel_.method = MoveMethod::gather;
    kernel_.rank = nest_.rank;
    kernel_.type = problem.type[0];
    kernel_.element_bytes = bytes_;
    kernel_.chunk = unit / bytes_;
    kernel_.turns = 1;
    kernel_.contiguous = true;
    kernel_.box.fill(0);
    std::fill_n(kernel_.box.begin(), kernel_.rank, 1U);
    order_source();
    lengthen_runs(std::max<std::uint64_t>(tuning.destination_run / bytes_, 1));
    lengthen_lines(std::max<std::uint64_t>(tuning.source_run / bytes_, 1));
    fill_up(std::uint64_t{tuning.destination_run} * tuning.source_run / bytes_ / bytes_ / 2);
    join_runs();
    lay_lines();
  }

  /// Nullopt if the image is too large.
  std::optional<MoveCandidate> plan() {
    if (!lay_image()) return std::nullopt;
    align_runs();
    choose_part();
    kernel_.threads = most_threads;
    const GatherLayout layout(kernel_);
    if (layout.bytes > most_shared) return std::nullopt;
    const std::uint64_t vectors = std::uint64_t{layout.slots} * layout.parts * layout.runs;
    kernel_.threads = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(std::bit_ceil(ceil_div(vectors, 2)), 32, most_threads));
    kernel_.choose_offsets(problem_);
    return MoveCandidate{kernel_, nest_};
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

  /// A part of an extent of about so many indices: all parts alike, and whole sectors of memory if that adds
  /// little.
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
      const double in_tiles = static_cast<double>(extent) / static_cast<double>(round_up(extent, part));
      const double score = in_stores * in_tiles * (whole && bytes % sector != 0 ? 0.9 : 1);
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
    for (std::uint32_t d = kernel_.rank; d-- > 0;) {
      kernel_.box[d] = run_part_of(d, ceil_div(wanted, run), run);
      run *= kernel_.box[d];
      if (kernel_.box[d] < nest_.shape[d] || run >= wanted || !goes_on(d)) return;
    }
  }

  /// Dimensions by the source's strides, the largest first; what is repeated goes on nowhere and counts as
  /// the farthest.
  void order_source() {
    auto& order = kernel_.source[0].order;
    std::iota(order.begin(), order.begin() + kernel_.rank, 0U);
    const auto far = [&](std::uint32_t d) {
      return stride(d) == 0 ? std::numeric_limits<std::uint64_t>::max() : distance(d);
    };
    std::stable_sort(order.begin(), order.begin() + kernel_.rank,
                     [&](std::uint32_t a, std::uint32_t b) { return far(a) > far(b); });
    kernel_.column = order[kernel_.rank - 1];
  }

  /// Whether a line of `span` elements can go on in a dimension of the tile: what it skips is little, and, if
  /// it runs backwards, the tile takes all of it.
  [[nodiscard]] bool joins_line(std::uint32_t d, std::uint64_t span, std::uint64_t box) const {
    if (stride(d) == 0 || (stride(d) < 0 && box < nest_.shape[d])) return false;
    return distance(d) <= span || (distance(d) - span) * bytes_ <= most_gap;
  }

  void lengthen_lines(std::uint64_t wanted) {
    std::uint64_t span = 1;
    for (std::uint32_t k = kernel_.rank; k-- > 0 && span < wanted;) {
      const std::uint32_t d = kernel_.source[0].order[k];
      if (stride(d) == 0) return;
      const std::uint64_t more = ceil_div(wanted - span, distance(d)) + 1;
      const std::uint64_t box =
          std::max<std::uint64_t>(kernel_.box[d], stride(d) < 0 ? nest_.shape[d] : part_of(d, more, 1));
      if (!joins_line(d, span, box) || box > most_shared) return;
      kernel_.box[d] = static_cast<std::uint32_t>(box);
      span = sat_add(sat_mul(box - 1, distance(d)), span);
    }
  }

  /// Makes the tile larger along the inner dimensions until it has about so many elements.
  void fill_up(std::uint64_t elements) {
    elements = std::min<std::uint64_t>(elements, most_filled / bytes_);
    std::uint64_t held = 1;
    for (std::uint32_t d = 0; d < kernel_.rank; ++d) held *= kernel_.box[d];
    for (std::uint32_t d = kernel_.rank; d-- > 0 && held * 2 <= elements;) {
      const std::uint64_t others = held / kernel_.box[d];
      const std::uint64_t inner = d + 1 == kernel_.rank ? 1 : nest_.shape[d + 1];
      kernel_.box[d] = std::max(kernel_.box[d], part_of(d, elements / others, inner));
      held = others * kernel_.box[d];
    }
  }

  /// Runs of the tile that follow each other in the destination are one.
  void join_runs() {
    std::uint32_t d = kernel_.rank - 1;
    std::uint64_t run = kernel_.box[d];
    while (goes_on(d) && kernel_.box[d] == nest_.shape[d] && run <= most_run) {
      --d;
      run *= kernel_.box[d];
    }
    kernel_.run_dimension = d;
  }

  /// Which dimensions a line spans, and its bytes.
  void lay_lines() {
    SourcePlan& plan = kernel_.source[0];
    plan.type = kernel_.type;
    plan.access = SourceAccess::image;
    std::uint64_t span = 1;
    std::fill_n(plan.lines.begin(), kernel_.rank, 1U);
    for (std::uint32_t k = kernel_.rank; k-- > 0; ++plan.run) {
      const std::uint32_t d = plan.order[k];
      if (kernel_.box[d] > 1) {
        if (!joins_line(d, span, kernel_.box[d])) break;
        span = sat_add(span, sat_mul(kernel_.box[d] - 1, distance(d)));
        if (span > most_shared) break;
        plan.image_step[d] = static_cast<std::uint32_t>(stride(d) * std::int64_t{bytes_});
      }
    }
    plan.pitch = sat_cast<std::uint32_t>(sat_mul(span, bytes_));
    plan.alignment = line_alignment();
  }

  /// Of every line's first byte, at most 16.
  [[nodiscard]] std::uint32_t line_alignment() const {
    const SourcePlan& plan = kernel_.source[0];
    std::uint64_t bits = unit | problem_.address[1];
    for (std::uint32_t k = 0; k < kernel_.rank; ++k) {
      const std::uint32_t d = plan.order[k];
      auto step = static_cast<std::uint64_t>(stride(d)) * bytes_;
      if (k >= kernel_.rank - plan.run) {
        // Tiles begin so far apart; a line that runs backwards, taken whole, begins with its last.
        step *= kernel_.box[d] < nest_.shape[d] ? kernel_.box[d] : stride(d) < 0 ? nest_.shape[d] - 1 : 0;
      }
      bits |= step;
    }
    return 1U << std::countr_zero(bits);
  }

  /// Where lines begin in the image: as far from a multiple of 16 bytes as in memory, and never in the 16
  /// bytes where another ends.
  bool lay_image() {
    SourcePlan& plan = kernel_.source[0];
    const std::uint64_t apart = plan.alignment < unit ? unit - 1 : 0;
    std::uint64_t span = plan.pitch;
    plan.skew = std::max(kernel_.chunk, least_skewed);
    if (plan.run >= kernel_.rank) return span <= most_shared;
    skew_runs();
    for (std::uint32_t k = kernel_.rank - plan.run; k-- > 0;) {
      const std::uint32_t d = plan.order[k];
      if (stride(d) == 0 || kernel_.box[d] == 1) continue;
      plan.lines[d] = kernel_.box[d];
      const std::uint64_t step =
          step_from(span + apart, static_cast<std::uint64_t>(stride(d)) * std::uint64_t{bytes_});
      plan.image_step[d] = static_cast<std::uint32_t>(step);
      span += (plan.lines[d] - 1) * step;
      if (d == kernel_.skewed) span += (plan.lines[d] - 1) / plan.skew * unit;
      if (span > most_shared) return false;
    }
    return true;
  }

  /// Threads side by side along a run would meet few banks if the lines that they read were a power of two
  /// apart: those of the run's innermost dimension that changes lines get gaps.
  void skew_runs() {
    const SourcePlan& plan = kernel_.source[0];
    for (std::uint32_t d = kernel_.rank; d-- > kernel_.run_dimension;) {
      const auto end = plan.order.begin() + (kernel_.rank - plan.run);
      if (std::find(plan.order.begin(), end, d) == end) continue;
      if (stride(d) == 0 || kernel_.box[d] == 1) continue;
      kernel_.skewed = d;
      return;
    }
  }

  void align_runs() {
    std::uint64_t in_tile = unit;  // steps from run to run
    std::uint64_t all = unit | problem_.address[0];
    for (std::uint32_t d = 0; d <= kernel_.run_dimension; ++d) {
      const auto step = static_cast<std::uint64_t>(problem_.step(0, d));
      if (d < kernel_.run_dimension) {
        if (kernel_.box[d] > 1) in_tile |= step;
        all |= step;
      } else if (kernel_.box[d] < nest_.shape[d]) {
        all |= step * kernel_.box[d];
      }
    }
    kernel_.alike = in_tile % unit == 0;
    kernel_.alignment = 1U << std::countr_zero(all);
  }

  /// Long runs are parts of whole vectors that look alike, so that a table for one serves all.
  void choose_part() {
    const std::uint32_t d = kernel_.run_dimension;
    std::uint64_t inner = bytes_;
    for (std::uint32_t k = d + 1; k < kernel_.rank; ++k) inner *= kernel_.box[k];
    std::uint64_t runs = 1;
    for (std::uint32_t k = 0; k < d; ++k) runs *= kernel_.box[k];
    const std::uint64_t skew = kernel_.skewed == d ? kernel_.source[0].skew : 1;
    for (const std::uint64_t wanted : {store_bytes, std::uint64_t{unit}}) {
      const std::uint64_t step = std::max(wanted / std::gcd(wanted, inner), skew);
      const std::uint64_t part = round_up(ceil_div(store_bytes, inner), step);
      // Where runs are many the table serves them all: parts that leave threads idle are not worth it.
      if (2 * part > kernel_.box[d] || (wanted == unit && runs >= most_small)) continue;
      kernel_.part = static_cast<std::uint32_t>(part);
      return;
    }
  }

  const MoveProblem& problem_;
  const CanonicalNest& nest_;
  std::uint32_t bytes_;
  MoveKernel kernel_;
};

}  // namespace

bool is_short(const MoveProblem& problem, std::uint32_t d) noexcept {
  const std::uint64_t bytes = problem.nest.shape[d] * problem.element_bytes(0);
  return bytes < short_run || (bytes < 2 * short_run && bytes % unit != 0);
}

bool takes_gather(const MoveProblem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 2 || nest.windowed || !problem.expression.empty()) return false;
  if (problem.element_bytes(0) >= unit) return false;
  const std::uint32_t last = nest.rank - 1;
  if (nest.operand[0].strides[last] != 1) return false;
  if (is_short(problem, last)) {
    return nest.operand[0].strides[last - 1] == static_cast<std::int64_t>(nest.shape[last]);
  }
  for (std::uint32_t d = 0; d < last; ++d) {
    if (std::abs(nest.operand[1].strides[d]) == 1 && is_short(problem, d)) return true;
  }
  return false;
}

std::vector<MoveCandidate> gather_candidates(const MoveProblem& problem) {
  std::vector<MoveCandidate> candidates;
  candidates.reserve(std::size(tunings));
  for (MoveTuning tuning : tunings) {
    // What does not fit is made smaller, twice at most.
    for (int tries = 0; tries < 3; ++tries) {
      if (auto candidate = GatherPlanner(problem, tuning).plan()) {
        candidates.push_back(std::move(*candidate));
        break;
      }
      (tuning.source_run > tuning.destination_run ? tuning.source_run : tuning.destination_run) /= 2;
    }
  }
  return candidates;
}

TMAJIT_END
