#include "families/pick/pick_layout.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <cstdlib>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t sector = 32;      // bytes
constexpr double whole_sectors = 1.05;    // what a part of whole sectors is worth
constexpr std::uint64_t part_steps = 16;  // lengths that are tried up to the wanted one

/// A tile that grows along the destination's memory, then along the source's, then wherever it can.
class BoxPlanner {
 public:
  BoxPlanner(const Problem& problem, const PickTuning& tuning)
      : problem_(problem), nest_(problem.nest), bytes_(problem.element_bytes(0)) {
    std::fill_n(box_.begin(), nest_.rank, 1U);
    lengthen_runs(std::max<std::uint64_t>(tuning.destination_run / bytes_, 1));
    std::uint32_t loaded = 0;  // bytes of all sources
    for (std::uint32_t i = 1; i < nest_.operands; ++i) {
      loaded += problem.element_bytes(i);
      lengthen_lines(i, std::max<std::uint64_t>(tuning.source_run / problem.element_bytes(i), 1));
    }
    fill_up(tuning.tile_bytes / std::max(bytes_, loaded));
  }
  [[nodiscard]] const PerDimension& box() const { return box_; }

 private:
  /// A part of an extent of about so many indices, each worth `inner` bytes of memory: one that leaves little
  /// of the last tile empty, and is whole sectors of memory if that costs little.
  [[nodiscard]] std::uint32_t part_of(std::uint64_t extent, std::uint64_t wanted, std::uint64_t inner) const {
    if (2 * extent <= 3 * wanted) return static_cast<std::uint32_t>(extent);
    const std::uint64_t step = std::max<std::uint64_t>(wanted / part_steps, 1);
    std::uint64_t best = std::max<std::uint64_t>(wanted, 1);
    double most = 0;
    for (std::uint64_t part = std::max<std::uint64_t>(wanted * 3 / 4, 1); 2 * part <= 3 * wanted + 1;
         part += step) {
      const double full = static_cast<double>(extent) / static_cast<double>(round_up(extent, part));
      const double score = full * (part * inner % sector == 0 ? whole_sectors : 1);
      if (score <= most) continue;
      most = score;
      best = part;
    }
    return static_cast<std::uint32_t>(std::min(best, extent));
  }

  void lengthen_runs(std::uint64_t wanted) {
    const auto& strides = nest_.operand[0].strides;
    std::uint64_t run = 1;
    for (std::uint32_t d = nest_.rank; d-- > 0;) {
      box_[d] = part_of(nest_.shape[d], ceil_div(wanted, run), run * bytes_);
      run *= box_[d];
      const bool goes_on = d > 0 && strides[d - 1] == strides[d] * static_cast<std::int64_t>(nest_.shape[d]);
      if (box_[d] < nest_.shape[d] || run >= wanted || !goes_on) return;
    }
  }

  void lengthen_lines(std::uint32_t operand, std::uint64_t wanted) {
    const auto& strides = nest_.operand[operand].strides;
    const std::uint64_t bytes = problem_.element_bytes(operand);
    const PerDimension order = farthest_first(nest_, operand, nest_.rank);
    std::uint64_t span = 1;
    for (std::uint32_t k = nest_.rank; k-- > 0 && span < wanted;) {
      const std::uint32_t d = order[k];
      const auto distance = static_cast<std::uint64_t>(std::abs(strides[d]));
      if (distance == 0 || (distance > span && (distance - span) * bytes > most_line_gap)) return;
      const std::uint64_t more = ceil_div(wanted - span, distance) + (distance == 1 ? 1 : 0);
      const std::uint32_t part =
          strides[d] < 0 ? static_cast<std::uint32_t>(std::min<std::uint64_t>(nest_.shape[d], UINT32_MAX))
                         : part_of(nest_.shape[d], more, distance * bytes);
      box_[d] = std::max(box_[d], part);
      span = sat_add(sat_mul(box_[d] - 1, distance), span);
      if (box_[d] < nest_.shape[d] || is_padded(problem_, d)) return;
    }
  }

  /// Makes the tile larger along the inner dimensions until it has about so many elements.
  void fill_up(std::uint64_t elements) {
    std::uint64_t held = elements_of(box_, nest_.rank);
    for (std::uint32_t d = nest_.rank; d-- > 0 && held * 3 / 2 <= elements;) {
      const std::uint64_t others = held / box_[d];
      box_[d] =
          std::max(box_[d], part_of(nest_.shape[d], std::max<std::uint64_t>(elements / others, 1), bytes_));
      held = others * box_[d];
    }
  }

  const Problem& problem_;
  const CanonicalNest& nest_;
  std::uint32_t bytes_;
  PerDimension box_{};
};

}  // namespace

PerDimension pick_box(const Problem& problem, const PickTuning& tuning) {
  return BoxPlanner(problem, tuning).box();
}

TMAJIT_END
