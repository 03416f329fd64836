#include "ops/placed_launches.hpp"

#include "operations/list.hpp"
#include "spec/counted.hpp"
#include "spec/inside.hpp"
#include "spec/overlap.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

void require_count(std::size_t count, std::size_t needed, std::string_view what) {
  if (count == needed) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the plan has {}, but {} given; each needs an address", counted(needed, what),
                          count == 1 ? std::string("1 address is") : fmt::format("{} addresses are", count)));
}

/// Calls `f` with each of the operation's tensors, destinations first.
template <class F>
void for_each_tensor(const Operation& operation, F&& f) {
  for (const Tensor& tensor : operation.destinations) f(tensor);
  for (const Tensor& tensor : operation.sources) f(tensor);
}

}  // namespace

bool shares_sources(const Operation& operation) {
  const std::vector<std::uint32_t>& parts = operation.source_parts;
  const std::size_t count = parts.empty() ? operation.sources.size() : parts.size();
  const auto reads_all = [count](const Move& move) { return move.sources.size() == count; };
  return std::ranges::all_of(operation.moves, reads_all);
}

std::vector<MoveTensors> tensors_of_moves(const Operation& operation) {
  // Operation::of() lists the sources of all moves one after the other. In other operations each move has its
  // own source, or all moves share all sources.
  const auto destinations = static_cast<std::uint32_t>(operation.destinations.size());
  const bool shared = shares_sources(operation);
  std::vector<MoveTensors> all;
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < operation.moves.size(); ++i) {
    MoveTensors& tensors = all.emplace_back();
    tensors[0] = destinations == 1 ? 0 : i;
    if (shared) next = 0;
    const std::size_t sources = std::min(operation.moves[i].sources.size(), tensors.size() - 1);
    for (std::size_t k = 0; k < sources; ++k) {
      const std::uint32_t source = operation.source_parts.empty() ? next++ : operation.source_parts[k];
      tensors[k + 1] = source == Operation::own_number ? source : destinations + source;
    }
  }
  return all;
}

Operation moved_to(const TensorAddresses& addresses, Operation operation) {
  require_count(addresses.destinations.size(), operation.destinations.size(), "destination");
  require_count(addresses.sources.size(), operation.sources.size(), "source");
  std::vector<DevicePtr> shifts;
  for_each_tensor(operation,
                  [&](const Tensor& tensor) { shifts.push_back(addresses[shifts.size()] - tensor.address); });
  const std::vector<MoveTensors> tensors = tensors_of_moves(operation);
  for (std::size_t i = 0; i < operation.moves.size(); ++i) {
    Move& move = operation.moves[i];
    move.destination.address += shifts[tensors[i][0]];
    for (std::size_t k = 0; k < move.sources.size(); ++k) {
      if (const std::uint32_t source = tensors[i][k + 1]; source != Operation::own_number)
        move.sources[k].address += shifts[source];
    }
  }
  for (std::size_t t = 0; t < shifts.size(); ++t) {
    const std::size_t first = operation.destinations.size();
    (t < first ? operation.destinations[t] : operation.sources[t - first]).address = addresses[t];
  }
  return operation;
}

std::vector<TensorReach> reaches_of(const Operation& operation) {
  std::vector<TensorReach> reaches;
  for_each_tensor(operation, [&](const Tensor& tensor) {
    const auto range = byte_range({tensor.view, tensor.address});
    TensorReach& reach = reaches.emplace_back(TensorReach{.planned = tensor.address});
    if (range) reach.below = tensor.address - range->first;
    if (range) reach.above = range->last - tensor.address;
    if (tensor.view.elements() == 0 || tensor.view.is_number) reach.above = TensorReach::nowhere;
  });
  return reaches;
}

/// The plan and kernel of one launch, with the tensors that its operands are part of: the input for its
/// image.
struct PlacedLaunches::Step {
  std::shared_ptr<const KernelState> kernel;
  const KernelPlan* plan;
  std::array<LaunchImage::Part, max_operands> parts;
  MoveTensors tensors;
};

std::unique_ptr<PlacedLaunches> PlacedLaunches::make(const Operation& operation,
                                                     std::span<const TensorReach> reaches,
                                                     std::span<const KernelPlan> plans,
                                                     std::span<const Kernel> kernels) {
  std::vector<DevicePtr> base;
  for_each_tensor(operation, [&](const Tensor& tensor) { base.push_back(tensor.address); });
  const std::vector<MoveTensors> tensors = tensors_of_moves(operation);
  std::vector<Step> steps;
  std::size_t bytes = reaches.size() * sizeof(PlacedTensor);
  std::size_t first = 0;  // number of the kernel's first move
  for (const std::span<const Move> moves : kernels_of(operation.moves)) {
    const std::size_t i = std::exchange(first, first + moves.size());
    const std::size_t next = steps.size();
    if (next == plans.size()) break;
    if (!writes_elements(moves)) continue;
    Step& step = steps.emplace_back(Step{Inside::state(kernels[next]), &plans[next], {}, tensors[i]});
    require_plan(*step.kernel, *step.plan);
    const Problem& problem = Inside::state(*step.plan)->problem;
    for (std::uint32_t k = 1; k < problem.destinations; ++k)
      step.tensors[problem.destination_operand(k)] = tensors[i + k][0];
    for (std::uint32_t k = 0; k < problem.nest.operands; ++k) {
      const std::uint32_t tensor = step.tensors[k];
      step.parts[k] = tensor == Operation::own_number ? LaunchImage::Part{.tensor = LaunchImage::Part::none}
                                                      : LaunchImage::Part{tensor, base[tensor]};
    }
    bytes += image_bytes(*step.plan);
  }
  return std::unique_ptr<PlacedLaunches>(new (TrailingBytes{bytes})
                                             PlacedLaunches(operation, reaches, steps));
}

PlacedLaunches::PlacedLaunches(const Operation& operation, std::span<const TensorReach> reaches,
                               std::span<const Step> steps)
    : tensor_count_(static_cast<std::uint32_t>(reaches.size())),
      destination_count_(static_cast<std::uint32_t>(operation.destinations.size())),
      launch_count_(static_cast<std::uint32_t>(steps.size())) {
  std::byte* at = trailing_bytes();
  std::size_t next = 0;
  for_each_tensor(operation, [&](const Tensor& tensor) {
    new (at) PlacedTensor{reaches[next++], tensor.address, tensor.view.is_number ? 0 : alignment_unit - 1};
    at += sizeof(PlacedTensor);
  });
  for (const Step& step : steps) {
    write_image(at, *step.kernel, *step.plan, step.parts);
    at += image_bytes(*step.plan);
    kernels_.push_back(step.kernel);
    const Problem& problem = Inside::state(*step.plan)->problem;
    for (std::uint32_t k = 1; k <= problem.sources(); ++k) {
      if (problem.interleaved[k] || problem.low[k] == problem.high[k]) continue;
      separate_pairs_.push_back({.written = step.tensors[0],
                                 .read = step.tensors[k],
                                 .destination = {problem.low[0], problem.high[0] - 1},
                                 .source = {problem.low[k], problem.high[k] - 1}});
    }
  }
}

bool PlacedLaunches::are_separate(const TensorAddresses& addresses) const noexcept {
  const std::span<const PlacedTensor> placed = tensors();
  const auto moved = [&](ByteRange range, std::uint32_t tensor) {
    const DevicePtr shift = addresses[tensor] - placed[tensor].base;
    return ByteRange{range.first + shift, range.last + shift};
  };
  return std::none_of(separate_pairs_.begin(), separate_pairs_.end(), [&](const SeparatePair& pair) {
    return meet(moved(pair.destination, pair.written), moved(pair.source, pair.read));
  });
}

LaunchesByAlignment::~LaunchesByAlignment() {
  const PlacedLaunches* launches = newest_.load(std::memory_order_acquire);
  while (launches != nullptr) delete std::exchange(launches, launches->next_);
}

const PlacedLaunches& LaunchesByAlignment::add(std::unique_ptr<PlacedLaunches> launches) {
  count_.fetch_add(1, std::memory_order_relaxed);
  return replace(std::move(launches));
}

const PlacedLaunches& LaunchesByAlignment::replace(std::unique_ptr<PlacedLaunches> launches) {
  PlacedLaunches* const added = launches.release();
  added->next_ = newest_.load(std::memory_order_relaxed);
  while (!newest_.compare_exchange_weak(added->next_, added, std::memory_order_release)) {
  }
  return *added;
}

TMAJIT_END
