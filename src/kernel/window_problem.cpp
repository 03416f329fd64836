#include "kernel/window_problem.hpp"

#include "spec/saturate.hpp"

#include <span>

TMAJIT_BEGIN
namespace {

std::uint64_t product(const WindowGeometry::Numbers& numbers, std::uint32_t dims) noexcept {
  return sat_product(std::span(numbers).first(dims));
}

/// Makes the first extent of a nest without elements 0, the only one that CanonicalNest::empty() tests.
CanonicalNest marked_if_empty(CanonicalNest nest) noexcept {
  if (nest.elements() == 0) nest.shape[0] = 0;
  return nest;
}

}  // namespace

std::uint64_t WindowProblem::windows() const noexcept {
  return sat_mul(image_count(), product(geometry.count, geometry.dims));
}
std::uint64_t WindowProblem::taps() const noexcept {
  return product(geometry.filter, geometry.dims);
}

WindowProblem window_operands(const Move& move, const Windows& windows) {
  WindowProblem problem{.geometry = {},
                        .destination = move.destination.view,
                        .images = move.sources.front().view,
                        .filter = {}};
  if (move.sources.size() > 1) problem.filter = move.sources[1].view;
  const std::span extents(problem.images.shape);
  static_cast<void>(read_windows(windows, extents.subspan(1, problem.images.rank - 2U), problem.geometry));
  return problem;
}

CanonicalNest window_nest(const WindowProblem& problem) noexcept {
  const std::size_t dims = problem.geometry.dims;
  const std::size_t last = dims - 1;
  const auto& to = problem.destination.strides;
  const auto& from = problem.images.strides;
  const std::int64_t pixel = from[dims] * static_cast<std::int64_t>(problem.geometry.stride[last]);
  CanonicalNest nest;
  if (problem.has_filter()) {
    nest.rank = 2;
    nest.operands = 3;
    nest.shape = {problem.windows(), problem.outputs()};
    nest.operand[0].strides = {to[dims], to[dims + 1]};
    nest.operand[1].strides = {pixel, 0};
    nest.operand[2].strides = {0, problem.filter.strides[0]};
    return marked_if_empty(nest);
  }
  nest.rank = 3;
  nest.operands = 2;
  nest.shape = {problem.windows(), problem.taps(), problem.channels()};
  nest.operand[0].strides = {to[dims], to[2 * dims], to[2 * dims + 1]};
  nest.operand[1].strides = {pixel, from[dims] * static_cast<std::int64_t>(problem.geometry.dilation[last]),
                             from[dims + 1]};
  return marked_if_empty(nest);
}

TMAJIT_END
