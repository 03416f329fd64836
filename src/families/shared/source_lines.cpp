#include "families/shared/source_lines.hpp"

#include <algorithm>
#include <bit>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t most_image = 32 * 1024;  // bytes

}  // namespace

bool SourceLines::spans(std::uint32_t d) const noexcept {
  const auto end = order.begin() + rank;
  return std::find(end - dimensions, end, d) != end;
}

LineImage SourceLines::layout(const PerDimension& box, std::uint32_t run_dimension) const noexcept {
  return {.box = box,
          .step = image_step,
          .rank = rank,
          .run_dimension = run_dimension,
          .skewed = skewed,
          .skew_every = skew_log == no_skew ? 1 : 1U << skew_log,
          .below = below};
}

LinePlanner::LinePlanner(const Problem& problem, std::uint32_t operand, const PerDimension& box,
                         std::uint32_t past)
    : problem_(problem),
      nest_(problem.nest),
      operand_(operand),
      bytes_(problem.element_bytes(operand)),
      box_(box),
      past_(past) {
  own_.rank = nest_.rank;
  own_.element_bytes = bytes_;
  own_.order = farthest_first(nest_, operand, nest_.rank);
}

bool LinePlanner::may_go_on(std::uint32_t d, std::uint64_t span) const {
  if (stride(d) == 0 || (stride(d) < 0 && box_[d] < nest_.shape[d])) return false;
  return distance(d) <= span || (distance(d) - span) * bytes_ <= most_line_gap;
}

/// Lets the line go on in a dimension, if it does not become too long.
bool LinePlanner::add(std::uint32_t d, std::uint64_t& span) {
  span = sat_add(span, sat_mul(box_[d] - 1, distance(d)));
  if (span > most_image) return false;
  own_.image_step[d] = static_cast<std::int32_t>(stride(d) * std::int64_t{bytes_});
  if (stride(d) < 0) own_.below += static_cast<std::uint32_t>(distance(d) * (box_[d] - 1)) * bytes_;
  return true;
}

bool LinePlanner::finish_lines(std::uint64_t span) {
  own_.bytes = sat_cast<std::uint32_t>(sat_mul(span, bytes_));
  std::uint64_t bits = image_unit | problem_.address[operand_];
  for (std::uint32_t d = 0; d < own_.rank; ++d) {
    auto step = static_cast<std::uint64_t>(problem_.step(operand_, d));
    if (own_.spans(d)) {
      // Tiles begin so far apart; a line that runs backwards, taken whole, begins with its last.
      step *= box_[d] < nest_.shape[d] ? box_[d] : stride(d) < 0 ? nest_.shape[d] - 1 : 0;
    }
    bits |= step;
  }
  alignment_ = 1U << std::countr_zero(bits);
  apart_ = alignment_ < image_unit ? image_unit - 1 : 0;
  own_.units = static_cast<std::uint32_t>(
      ceil_div(std::uint64_t{own_.bytes} + image_unit - alignment_, std::uint64_t{image_unit}));
  return own_.bytes <= most_image;
}

std::uint32_t LinePlanner::first_of_run(std::uint32_t run_dimension, std::uint64_t elements) const {
  std::uint64_t inner = 1;
  for (std::uint32_t d = own_.rank; d-- > run_dimension && inner < elements; inner *= box_[d]) {
    if (!own_.spans(d) && stride(d) != 0 && box_[d] > 1) return d;
  }
  return own_.rank;
}

/// Bytes from one index to the next of a dimension that takes apart lines, or groups of them, of such a span.
std::uint64_t LinePlanner::step_beyond(std::uint32_t d, std::uint64_t span) const {
  return line_step(span + apart_, static_cast<std::uint64_t>(problem_.step(operand_, d)));
}

bool LinePlanner::put_apart(std::uint32_t d, std::uint64_t step, std::uint64_t& span) {
  own_.count *= box_[d];
  own_.image_step[d] = static_cast<std::int32_t>(step);
  span += (box_[d] - 1) * step + (d == own_.skewed ? ((box_[d] - 1) >> own_.skew_log) * image_unit : 0);
  return span <= most_image + most_image / 2;
}

TMAJIT_END
