#include "ops/run_move.hpp"

#include <algorithm>
#include <stdexcept>

using namespace tmajit;
using reference::BufferView, reference::MoveKind, reference::RandomMove;

namespace tests {
namespace {

std::vector<Tensor> tensors(std::span<const BufferView> views, std::span<const DevicePtr> buffers) {
  std::vector<Tensor> result;
  for (const BufferView& view : views) result.push_back({view.view, buffers[view.buffer] + view.offset});
  return result;
}

}  // namespace

Operation operation_of(const RandomMove& move, std::span<const DevicePtr> buffers) {
  const std::vector<Tensor> to = tensors(move.destinations, buffers);
  const std::vector<Tensor> from = tensors(move.sources, buffers);
  switch (move.kind) {
    case MoveKind::copy: return operation::copy(to[0], from[0]);
    case MoveKind::permute: return operation::permute(to[0], from[0], move.axes);
    case MoveKind::flip: return operation::copy(to[0], flipped(from[0], move.axis));
    case MoveKind::slice: return operation::slice(to[0], from[0], move.slices);
    case MoveKind::pad: return operation::pad(to[0], from[0], {.before = move.before, .value = move.value});
    case MoveKind::concat: return operation::concat(to[0], from, move.axis);
    case MoveKind::split: return operation::split(to, from[0], move.axis);
    case MoveKind::cast: return operation::cast(to[0], from[0]);
    case MoveKind::map: return operation::map(to[0], move.expression, from);
  }
  throw std::invalid_argument("no such operation");
}

MovePlan plan(Runtime& runtime, const RandomMove& move, std::span<const DevicePtr> buffers) {
  return tmajit::plan(runtime, operation_of(move, buffers));
}

NewAddresses addresses(const RandomMove& move, std::span<const DevicePtr> buffers) {
  NewAddresses result;
  for (const BufferView& view : move.destinations) {
    result.destinations.push_back(buffers[view.buffer] + view.offset);
  }
  for (const BufferView& view : move.sources) {
    Tensor tensor{view.view, buffers[view.buffer] + view.offset};
    // Flips go in as copies of a view, which is then what was given.
    if (move.kind == MoveKind::flip) tensor = flipped(tensor, move.axis);
    result.sources.push_back(tensor.address);
  }
  return result;
}

std::uint64_t largest_element(const RandomMove& move) {
  std::uint64_t largest = 1;
  for (const auto* views : {&move.destinations, &move.sources}) {
    for (const BufferView& view : *views) largest = std::max<std::uint64_t>(largest, size_of(view.view.type));
  }
  return largest;
}

void count(const MovePlan& plan, KernelCounts& counts) {
  for (const MoveStep& step : plan.explain().steps) ++counts[step.kernel];
}

}  // namespace tests
