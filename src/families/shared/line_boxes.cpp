#include "families/shared/line_boxes.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <cstdlib>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t sector = 32;      // bytes
constexpr double whole_sectors = 1.05;    // what a part of whole sectors is worth
constexpr std::uint64_t part_steps = 16;  // lengths that are tried up to the wanted one
constexpr std::size_t usual_parts = 32;   // that the tunings of a problem ask for

/// A part of an extent of about so many indices, each worth `inner` bytes of memory: one that leaves little
/// of the last tile empty, and is whole sectors of memory if that costs little.
std::uint32_t best_part(std::uint64_t extent, std::uint64_t wanted, std::uint64_t inner) {
  const std::uint64_t step = std::max<std::uint64_t>(wanted / part_steps, 1);
  std::uint64_t best = std::max<std::uint64_t>(wanted, 1);
  double most = 0;
  for (std::uint64_t part = std::max<std::uint64_t>(wanted * 3 / 4, 1); 2 * part <= 3 * wanted + 1;
       part += step) {
    const double worth = part * inner % sector == 0 ? whole_sectors : 1;
    if (worth <= most) continue;  // however full its last tile is
    const double full = static_cast<double>(extent) / static_cast<double>(round_up(extent, part));
    const double score = full * worth;
    if (score <= most) continue;
    most = score;
    best = part;
  }
  return static_cast<std::uint32_t>(std::min(best, extent));
}

}  // namespace

LineBoxes::LineBoxes(const Problem& problem)
    : problem_(problem), nest_(problem.nest), bytes_(problem.element_bytes(0)) {
  for (std::uint32_t s = 0; s < problem.sources(); ++s) {
    order_[s] = farthest_first(nest_, s + 1, nest_.rank);
    loaded_ += problem.element_bytes(s + 1);
  }
  parts_.reserve(usual_parts);
}

PerDimension LineBoxes::box(const LineTuning& tuning) {
  PerDimension box{};
  std::fill_n(box.begin(), nest_.rank, 1U);
  lengthen_runs(box, std::max<std::uint64_t>(tuning.destination_run / bytes_, 1));
  for (std::uint32_t s = 0; s < problem_.sources(); ++s) {
    lengthen_lines(box, s, std::max<std::uint64_t>(tuning.source_run / problem_.element_bytes(s + 1), 1));
  }
  fill_up(box, tuning.tile_bytes / std::max(bytes_, loaded_));
  return box;
}

std::uint32_t LineBoxes::part_of(std::uint64_t extent, std::uint64_t wanted, std::uint64_t inner) {
  if (2 * extent <= 3 * wanted) return static_cast<std::uint32_t>(extent);
  for (const Part& known : parts_) {
    if (known.extent == extent && known.wanted == wanted && known.inner == inner) return known.part;
  }
  parts_.push_back({extent, wanted, inner, best_part(extent, wanted, inner)});
  return parts_.back().part;
}

/// Along the destination's memory.
void LineBoxes::lengthen_runs(PerDimension& box, std::uint64_t wanted) {
  const auto& strides = nest_.operand[0].strides;
  std::uint64_t run = 1;
  for (std::uint32_t d = nest_.rank; d-- > 0;) {
    box[d] = part_of(nest_.shape[d], ceil_div(wanted, run), run * bytes_);
    run *= box[d];
    const bool goes_on = d > 0 && strides[d - 1] == strides[d] * static_cast<std::int64_t>(nest_.shape[d]);
    if (box[d] < nest_.shape[d] || run >= wanted || !goes_on) return;
  }
}

/// Along a source's.
void LineBoxes::lengthen_lines(PerDimension& box, std::uint32_t s, std::uint64_t wanted) {
  const std::uint64_t bytes = problem_.element_bytes(s + 1);
  std::uint64_t span = 1;
  for (std::uint32_t k = nest_.rank; k-- > 0 && span < wanted;) {
    const std::uint32_t d = order_[s][k];
    const std::int64_t stride = nest_.operand[s + 1].strides[d];
    const auto distance = static_cast<std::uint64_t>(std::abs(stride));
    if (stride == 0 || (distance > span && (distance - span) * bytes > most_line_gap)) return;
    const std::uint64_t more = ceil_div(wanted - span, distance) + (distance == 1 ? 1 : 0);
    const std::uint32_t part =
        stride < 0 ? static_cast<std::uint32_t>(std::min<std::uint64_t>(nest_.shape[d], UINT32_MAX))
                   : part_of(nest_.shape[d], more, distance * bytes);
    box[d] = std::max(box[d], part);
    span = sat_add(sat_mul(box[d] - 1, distance), span);
    if (box[d] < nest_.shape[d] || is_padded(problem_, d)) return;
  }
}

/// Makes the tile larger along the inner dimensions until it has about so many elements.
void LineBoxes::fill_up(PerDimension& box, std::uint64_t elements) {
  std::uint64_t held = elements_of(box, nest_.rank);
  for (std::uint32_t d = nest_.rank; d-- > 0 && held * 3 / 2 <= elements;) {
    const std::uint64_t others = held / box[d];
    box[d] = std::max(box[d], part_of(nest_.shape[d], std::max<std::uint64_t>(elements / others, 1), bytes_));
    held = others * box[d];
  }
}

TMAJIT_END
