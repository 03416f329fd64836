#include "ops/run_move.hpp"

#include <algorithm>
#include <stdexcept>

using namespace tmajit;
using reference::BufferView, reference::Operation, reference::RandomMove;

namespace tests {
namespace {

std::vector<Tensor> tensors(std::span<const BufferView> views, std::span<const DevicePtr> buffers) {
  std::vector<Tensor> result;
  for (const BufferView& view : views) result.push_back({view.view, buffers[view.buffer] + view.offset});
  return result;
}

}  // namespace

MovePlan plan(Runtime& runtime, const RandomMove& move, std::span<const DevicePtr> buffers) {
  const std::vector<Tensor> to = tensors(move.destinations, buffers);
  const std::vector<Tensor> from = tensors(move.sources, buffers);
  switch (move.operation) {
    case Operation::copy: return plan_copy(runtime, to[0], from[0]);
    case Operation::permute: return plan_permute(runtime, to[0], from[0], move.axes);
    case Operation::flip: return plan_copy(runtime, to[0], flipped(from[0], move.axis));
    case Operation::slice: return plan_slice(runtime, to[0], from[0], move.slices);
    case Operation::pad: return plan_pad(runtime, to[0], from[0], move.padding);
    case Operation::concat: return plan_concat(runtime, to[0], from, move.axis);
    case Operation::split: return plan_split(runtime, to, from[0], move.axis);
    case Operation::cast: return plan_cast(runtime, to[0], from[0]);
    case Operation::map: return plan_map(runtime, to[0], move.expression, from);
  }
  throw std::invalid_argument("no such operation");
}

NewAddresses addresses(const RandomMove& move, std::span<const DevicePtr> buffers) {
  NewAddresses result;
  for (const BufferView& view : move.destinations) {
    result.destinations.push_back(buffers[view.buffer] + view.offset);
  }
  for (const BufferView& view : move.sources) {
    Tensor tensor{view.view, buffers[view.buffer] + view.offset};
    // Flips go in as copies of a view, which is then what was given.
    if (move.operation == Operation::flip) tensor = flipped(tensor, move.axis);
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
