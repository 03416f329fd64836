#include "families/weave/weave_boxes.hpp"

#include "families/shared/source_lines.hpp"
#include "families/shared/views.hpp"
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

WeaveBoxes::WeaveBoxes(const Problem& problem)
    : problem_(problem),
      nest_(problem.nest),
      bytes_(problem.element_bytes(0)),
      order_(farthest_first(nest_, 1, nest_.rank)) {
  parts_.reserve(usual_parts);
}

PerDimension WeaveBoxes::box(const WeaveTuning& tuning) {
  PerDimension box{};
  std::fill_n(box.begin(), nest_.rank, 1U);
  lengthen_runs(box, std::max<std::uint64_t>(tuning.destination_run / bytes_, 1));
  lengthen_lines(box, std::max<std::uint64_t>(tuning.source_run / bytes_, 1));
  fill_up(box, tuning.tile_bytes / bytes_);
  return box;
}

std::uint32_t WeaveBoxes::part_of(std::uint64_t extent, std::uint64_t wanted, std::uint64_t inner) {
  if (2 * extent <= 3 * wanted) return static_cast<std::uint32_t>(extent);
  for (const Part& known : parts_) {
    if (known.extent == extent && known.wanted == wanted && known.inner == inner) return known.part;
  }
  parts_.push_back({extent, wanted, inner, best_part(extent, wanted, inner)});
  return parts_.back().part;
}

/// Along the destination's memory.
void WeaveBoxes::lengthen_runs(PerDimension& box, std::uint64_t wanted) {
  const auto& strides = nest_.operand[0].strides;
  std::uint64_t run = 1;
  for (std::uint32_t d = nest_.rank; d-- > 0;) {
    box[d] = part_of(nest_.shape[d], ceil_div(wanted, run), run * bytes_);
    run *= box[d];
    const bool goes_on = d > 0 && strides[d - 1] == strides[d] * static_cast<std::int64_t>(nest_.shape[d]);
    if (box[d] < nest_.shape[d] || run >= wanted || !goes_on) return;
  }
}

/// Along the source's.
void WeaveBoxes::lengthen_lines(PerDimension& box, std::uint64_t wanted) {
  std::uint64_t span = 1;
  for (std::uint32_t k = nest_.rank; k-- > 0 && span < wanted;) {
    const std::uint32_t d = order_[k];
    const std::int64_t stride = nest_.operand[1].strides[d];
    const auto distance = static_cast<std::uint64_t>(std::abs(stride));
    if (!joins_line(problem_, d, nest_.shape[d], span)) return;
    const std::uint64_t more = ceil_div(wanted - span, distance) + (distance == 1 ? 1 : 0);
    const std::uint32_t part =
        stride < 0 ? static_cast<std::uint32_t>(std::min<std::uint64_t>(nest_.shape[d], UINT32_MAX))
                   : part_of(nest_.shape[d], more, distance * bytes_);
    box[d] = std::max(box[d], part);
    span = sat_add(sat_mul(box[d] - 1, distance), span);
    if (box[d] < nest_.shape[d]) return;
  }
}

/// Makes the tile larger along the inner dimensions until it has about so many elements.
void WeaveBoxes::fill_up(PerDimension& box, std::uint64_t elements) {
  std::uint64_t held = elements_of(box, nest_.rank);
  for (std::uint32_t d = nest_.rank; d-- > 0 && held * 3 / 2 <= elements;) {
    const std::uint64_t others = held / box[d];
    box[d] = std::max(box[d], part_of(nest_.shape[d], std::max<std::uint64_t>(elements / others, 1), bytes_));
    held = others * box[d];
  }
}

TMAJIT_END
