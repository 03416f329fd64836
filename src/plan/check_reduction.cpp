#include "plan/check_reduction.hpp"

#include "kernel/problem.hpp"
#include "spec/memory_rules.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <span>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::span<const std::uint64_t> extents(const TensorView& view) {
  return std::span(view.shape).first(view.rank);
}

ReductionMistake mistake_of_sources(const Move& move) {
  const Reduction& reduction = *move.reduction;
  const std::size_t count = move.sources.size();
  if (count == 0 || count > max_inputs) {
    return {"sources.range", fmt::format("{} sources", count), fmt::format("1 to {}", max_inputs),
            "an expression of fewer tensors"};
  }
  if (!move.expression.empty() || move.padding) {
    return {"reduction.expression", move.padding ? "a padding" : "an expression of the move",
            "only the reduction's own expressions", "the expression as that of the reduction"};
  }
  if (reduction.expression.empty() && count != 1) {
    return {"sources.expression", fmt::format("{} sources without an expression", count),
            "one where values are reduced as they are", "an expression of all of them, such as \"x0 * x1\""};
  }
  const ExpressionReads reads = reads_of(reduction.expression);
  if (reads.g || reads.t || reads.tile_index) {
    return {"reduction.expression", fmt::format("\"{}\"", reduction.expression),
            "an expression of the sources' elements alone: reductions know no coordinates",
            "a map that computes it, and a reduction of what that leaves"};
  }
  for (const Tensor& source : move.sources) {
    if (std::ranges::equal(extents(source.view), extents(move.sources.front().view))) continue;
    return {"view.shape",
            fmt::format("sources of {} and {}", shape_text(extents(move.sources.front().view)),
                        shape_text(extents(source.view))),
            "sources of one shape", "sources that are broadcast to it"};
  }
  return {};
}

}  // namespace

ReductionMistake mistake_of(const Move& move) {
  if (ReductionMistake found = mistake_of_sources(move); !found.rule.empty()) return found;
  const Reduction& reduction = *move.reduction;
  const auto from = extents(move.sources.front().view);
  const auto rank = static_cast<std::int64_t>(from.size());
  std::array<bool, max_view_rank> reduced{};
  bool has_none = false;
  for (const std::int64_t axis : reduction.axes) {
    const std::int64_t d = axis < 0 ? axis + rank : axis;
    if (d < 0 || d >= rank || reduced[static_cast<std::size_t>(d)]) {
      return {"reduction.axes", fmt::format("axis {}{}", axis, d < 0 || d >= rank ? "" : " twice"),
              fmt::format("axes of the sources, of {} dimensions, each once", rank),
              "any of them in any order; negative ones count from the last"};
    }
    reduced[static_cast<std::size_t>(d)] = true;
    has_none = has_none || from[static_cast<std::size_t>(d)] == 0;
  }
  std::vector<std::uint64_t> kept;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (!reduced[d]) kept.push_back(from[d]);
  }
  if (!std::ranges::equal(kept, extents(move.destination.view))) {
    return {"view.shape", fmt::format("a destination of {}", shape_text(extents(move.destination.view))),
            fmt::format("{}, the dimensions of {} that are not reduced", shape_text(kept), shape_text(from)),
            "a destination of that shape; reshaped() drops extents of 1"};
  }
  if (has_none && move.destination.view.elements() > 0) {
    return {"reduction.elements", fmt::format("nothing along the axes, of {}", shape_text(from)),
            "at least one element for each of the destination's", "a fill of what should be there"};
  }
  return {};
}

TMAJIT_END
