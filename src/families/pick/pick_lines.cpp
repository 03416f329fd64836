#include "families/pick/pick_lines.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t unit = 16;  // bytes that come to the image at once
constexpr std::uint32_t lanes = 32;
constexpr std::uint32_t most_image = 32 * 1024;  // bytes
constexpr std::uint32_t skew_log = 3;            // of the lines from one gap of the image to the next
constexpr std::uint32_t enough_banks = 8;        // for a line to go on where the next dimension begins
constexpr std::uint32_t enough_wavefronts = 2;   // of an access: a larger gap would gain little
constexpr std::uint32_t most_gaps = 4;           // that are tried, each 16 bytes more
constexpr std::uint32_t skewed_lanes = 8;        // that go along a run where its lines have gaps

class LinePlanner {
 public:
  LinePlanner(const Problem& problem, std::uint32_t operand, const PerDimension& box, const PickRun& run)
      : problem_(problem), nest_(problem.nest), bytes_(problem.element_bytes(operand)), box_(box), run_(run) {
    own_.operand = operand;
    own_.rank = nest_.rank;
    own_.element_bytes = bytes_;
    own_.order = farthest_first(nest_, operand, nest_.rank);
  }

  std::optional<PlacedLines> plan() {
    lay_lines();
    if (!lay_image()) return std::nullopt;
    std::uint64_t image = own_.bytes + (own_.alignment < unit ? unit - 1 : 0);
    for (std::uint32_t d = 0; d < own_.rank; ++d) image += beyond(d, box_[d]);
    own_.image_bytes = sat_cast<std::uint32_t>(round_up(image, unit));
    if (!places_) places_.emplace(own_.layout(box_, run_), run_.in_word, run_.elements);
    return PlacedLines{own_, *places_};
  }

 private:
  [[nodiscard]] std::int64_t stride(std::uint32_t d) const { return nest_.operand[own_.operand].strides[d]; }
  [[nodiscard]] std::uint64_t distance(std::uint32_t d) const {
    return static_cast<std::uint64_t>(std::abs(stride(d)));
  }

  /// Whether a line of `span` elements goes on in a dimension of the tile: what it skips is little, and, if
  /// it runs backwards, the tile takes all of it. What the source does not reach of a padded dimension has to
  /// be one end of the line: it goes on nowhere, and its indices do not lie among each other.
  [[nodiscard]] bool joins_line(std::uint32_t d, std::uint64_t span) const {
    if (stride(d) == 0 || (stride(d) < 0 && box_[d] < nest_.shape[d])) return false;
    if (ends_line_ || (is_padded(problem_, d) && distance(d) < span)) return false;
    if (distance(d) > span && (distance(d) - span) * bytes_ > most_line_gap) return false;
    return span * bytes_ < unit || banks_met(distance(d) * bytes_) >= enough_banks;
  }
  /// Banks that threads side by side along a run meet whose elements lie so many bytes apart.
  [[nodiscard]] std::uint32_t banks_met(std::uint64_t step) const {
    return lanes / std::gcd(lanes, static_cast<std::uint32_t>(step * run_.in_word / 4 % lanes));
  }

  /// Which dimensions a line spans, and its bytes.
  void lay_lines() {
    std::uint64_t span = 1;
    for (std::uint32_t k = own_.rank; k-- > 0; ++own_.dimensions) {
      const std::uint32_t d = own_.order[k];
      if (box_[d] == 1) continue;
      if (!joins_line(d, span)) break;
      span = sat_add(span, sat_mul(box_[d] - 1, distance(d)));
      if (span > most_image) break;
      own_.image_step[d] = static_cast<std::int32_t>(stride(d) * std::int64_t{bytes_});
      ends_line_ = is_padded(problem_, d);
      if (stride(d) < 0) own_.below += static_cast<std::uint32_t>(distance(d) * (box_[d] - 1)) * bytes_;
    }
    own_.bytes = sat_cast<std::uint32_t>(sat_mul(span, bytes_));
    own_.alignment = line_alignment();
    own_.units =
        static_cast<std::uint32_t>(ceil_div(std::uint64_t{own_.bytes} + unit - own_.alignment, unit));
  }

  /// Of every line's first byte, at most 16.
  [[nodiscard]] std::uint32_t line_alignment() const {
    std::uint64_t bits = unit | problem_.address[own_.operand];
    for (std::uint32_t d = 0; d < own_.rank; ++d) {
      auto step = static_cast<std::uint64_t>(stride(d)) * bytes_;
      if (own_.spans(d)) {
        // Tiles begin so far apart; a line that runs backwards, taken whole, begins with its last.
        step *= box_[d] < nest_.shape[d] ? box_[d] : stride(d) < 0 ? nest_.shape[d] - 1 : 0;
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
    if (own_.bytes > most_image) return false;
    const std::uint32_t first = first_of_run();
    if (first == own_.rank) return place_lines(first, 0);
    std::uint32_t best = 0;
    std::uint32_t last = 0;
    std::uint32_t least = UINT32_MAX;
    for (std::uint32_t gap = 0; gap < most_gaps && least > std::max(bytes_, enough_wavefronts); ++gap) {
      last = gap;
      if (!place_lines(first, gap)) break;
      const std::uint32_t along = own_.skewed < own_.rank ? skewed_lanes : lanes;
      const RunPlaces places(own_.layout(box_, run_), run_.in_word, run_.elements);
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
    const std::uint64_t apart = own_.alignment < unit ? unit - 1 : 0;
    std::uint64_t span = own_.bytes;
    own_.count = 1;
    own_.skewed = max_view_rank;
    own_.skew_log = no_skew;
    for (std::uint32_t k = own_.rank - own_.dimensions; k-- > 0;) {
      const std::uint32_t d = own_.order[k];
      if (stride(d) == 0 || box_[d] == 1) continue;
      own_.count *= box_[d];
      const std::uint64_t step =
          line_step(span + apart, static_cast<std::uint64_t>(stride(d)) * std::uint64_t{bytes_}) +
          (d == first ? std::uint64_t{gap} * unit : 0);
      own_.image_step[d] = static_cast<std::int32_t>(step);
      // Threads side by side along a run would meet few banks if the lines that they read lay so.
      const std::uint64_t few = run_.in_word == 4 ? 8 : 16;
      if (d == first && run_.in_word > 1 && step % few == 0 && box_[d] >= 2U << skew_log) {
        own_.skewed = d;
        own_.skew_log = skew_log;
      }
      span += beyond(d, box_[d]);
      if (span > most_image + most_image / 2) return false;
    }
    return true;
  }

  /// The innermost dimension of a run that changes lines, if threads side by side meet several of its
  /// indices; else the rank.
  [[nodiscard]] std::uint32_t first_of_run() const {
    std::uint64_t inner = 1;
    for (std::uint32_t d = own_.rank; d-- > run_.dimension && inner < lanes; inner *= box_[d]) {
      if (!own_.spans(d) && stride(d) != 0 && box_[d] > 1) return d;
    }
    return own_.rank;
  }

  const Problem& problem_;
  const CanonicalNest& nest_;
  std::uint32_t bytes_;
  const PerDimension& box_;
  const PickRun& run_;
  PickLines own_;
  std::optional<RunPlaces> places_;  ///< of the first lanes along a run, in the image as it is
  bool ends_line_ = false;           ///< the last dimension that the line spans so far is padded
};

}  // namespace

bool PickLines::spans(std::uint32_t d) const noexcept {
  const auto end = order.begin() + rank;
  return std::find(end - dimensions, end, d) != end;
}

LineImage PickLines::layout(const PerDimension& box, const PickRun& run) const noexcept {
  return {.box = box,
          .step = image_step,
          .rank = rank,
          .run_dimension = run.dimension,
          .skewed = skewed,
          .skew_every = 1U << skew_log,
          .below = below};
}

std::optional<PlacedLines> pick_lines(const Problem& problem, std::uint32_t operand, const PerDimension& box,
                                      const PickRun& run) {
  return LinePlanner(problem, operand, box, run).plan();
}

TMAJIT_END
