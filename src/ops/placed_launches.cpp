#include "ops/placed_launches.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

void require_count(std::size_t count, std::size_t needed, std::string_view what) {
  if (count == needed) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} addresses of {}; the plan has {}, and needs one of each", count, what, needed));
}

/// Calls `f` with each tensor that the operation was given, destinations first.
template <class F>
void for_each_tensor(const Operation& operation, F&& f) {
  for (const Tensor& tensor : operation.destinations) f(tensor);
  for (const Tensor& tensor : operation.sources) f(tensor);
}

}  // namespace

std::vector<MoveTensors> tensors_of_moves(const Operation& operation) {
  // Of moves that were given one by one the sources follow each other; of an operation each move has its own,
  // or one move has all.
  const auto destinations = static_cast<std::uint32_t>(operation.destinations.size());
  std::vector<MoveTensors> all;
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < operation.moves.size(); ++i) {
    MoveTensors& tensors = all.emplace_back();
    tensors[0] = destinations == 1 ? 0 : i;
    const std::size_t sources = std::min(operation.moves[i].sources.size(), tensors.size() - 1);
    for (std::size_t k = 0; k < sources; ++k) {
      tensors[k + 1] = destinations + (operation.sources.size() == 1 ? 0 : next++);
    }
  }
  return all;
}

Operation moved_to(const TensorAddresses& addresses, Operation operation) {
  require_count(addresses.destinations.size(), operation.destinations.size(), "destinations");
  require_count(addresses.sources.size(), operation.sources.size(), "sources");
  std::vector<DevicePtr> by;
  for_each_tensor(operation,
                  [&](const Tensor& tensor) { by.push_back(addresses[by.size()] - tensor.address); });
  const std::vector<MoveTensors> tensors = tensors_of_moves(operation);
  for (std::size_t i = 0; i < operation.moves.size(); ++i) {
    Move& move = operation.moves[i];
    move.destination.address += by[tensors[i][0]];
    for (std::size_t k = 0; k < move.sources.size(); ++k) move.sources[k].address += by[tensors[i][k + 1]];
  }
  for (std::size_t t = 0; t < by.size(); ++t) {
    const std::size_t first = operation.destinations.size();
    (t < first ? operation.destinations[t] : operation.sources[t - first]).address = addresses[t];
  }
  return operation;
}

PlacedLaunches::PlacedLaunches(const Operation& operation, std::span<const KernelPlan> plans,
                               std::span<const Kernel> kernels) {
  for_each_tensor(operation, [&](const Tensor& tensor) { base_.push_back(tensor.address); });
  const std::vector<MoveTensors> tensors = tensors_of_moves(operation);
  std::size_t next = 0;
  for (std::size_t i = 0; i < operation.moves.size() && next < plans.size(); ++i) {
    if (operation.moves[i].destination.view.elements() == 0) continue;
    steps_.push_back({BoundLaunch(kernels[next].state(), plans[next]), tensors[i]});
    const Problem& problem = plans[next].state().problem;
    for (std::uint32_t k = 1; k < problem.nest.operands; ++k) {
      if (problem.interleaved[k] || problem.low[k] == problem.high[k]) continue;
      apart_.push_back({.written = tensors[i][0],
                        .read = tensors[i][k],
                        .destination = {problem.low[0], problem.high[0] - 1},
                        .source = {problem.low[k], problem.high[k] - 1}});
    }
    ++next;
  }
}

bool PlacedLaunches::suits(const TensorAddresses& addresses, Placement placement) const noexcept {
  DevicePtr differences = 0;
  for (std::size_t t = 0; t < base_.size(); ++t) differences |= addresses[t] - base_[t];
  if (differences % alignment_unit != 0) return false;
  return placement == Placement::apart || stay_apart(addresses);
}

bool PlacedLaunches::stay_apart(const TensorAddresses& addresses) const noexcept {
  const auto moved = [&](ByteRange range, std::uint32_t tensor) {
    const DevicePtr by = addresses[tensor] - base_[tensor];
    return ByteRange{range.first + by, range.last + by};
  };
  return std::none_of(apart_.begin(), apart_.end(), [&](const ApartPair& pair) {
    return meet(moved(pair.destination, pair.written), moved(pair.source, pair.read));
  });
}

void PlacedLaunches::operator()(const TensorAddresses& addresses, Stream stream) const {
  for (const Step& step : steps_) {
    std::array<DevicePtr, max_operands> by;
    const std::uint32_t operands = step.launch.plan().state().problem.nest.operands;
    for (std::uint32_t i = 0; i < operands; ++i) by[i] = addresses[step.tensor[i]] - base_[step.tensor[i]];
    step.launch(by, stream);
  }
}

LaunchesByAlignment::~LaunchesByAlignment() {
  const Node* node = first_.load(std::memory_order_acquire);
  while (node != nullptr) delete std::exchange(node, node->next);
}

const PlacedLaunches* LaunchesByAlignment::find(const TensorAddresses& addresses,
                                                Placement placement) const noexcept {
  const Node* node = first_.load(std::memory_order_acquire);
  while (node != nullptr && !node->launches.suits(addresses, placement)) node = node->next;
  return node == nullptr ? nullptr : &node->launches;
}

const PlacedLaunches& LaunchesByAlignment::add(PlacedLaunches launches) {
  auto* const node = new Node{std::move(launches), first_.load(std::memory_order_relaxed)};
  count_.fetch_add(1, std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(node->next, node, std::memory_order_release)) {
  }
  return node->launches;
}

Reaches::Reaches(const Operation& operation) : written_(operation.destinations.size()) {
  for_each_tensor(operation, [&](const Tensor& tensor) {
    const auto range = byte_range({tensor.view, tensor.address});
    reaches_.push_back({.planned = tensor.address,
                        .below = range ? tensor.address - range->first : 0,
                        .above = range ? range->last - tensor.address : 0,
                        .empty = tensor.view.elements() == 0});
  });
}

Placement Reaches::placement(const TensorAddresses& addresses) const noexcept {
  Placement placement = Placement::apart;
  for (std::size_t i = 0; i < reaches_.size(); ++i) {
    const Reach& reach = reaches_[i];
    const DevicePtr address = addresses[i];
    if (reach.empty) continue;
    if (address <= reach.below || address + reach.above < address)
      return Placement::unsure;  // null, or it wraps
    for (std::size_t j = 0; j < std::min(i, written_); ++j) {
      const Reach& other = reaches_[j];
      if (other.empty) continue;
      const bool apart = address + reach.above < addresses[j] - other.below ||
                         addresses[j] + other.above < address - reach.below;
      if (apart) continue;
      if (addresses[j] - other.planned != address - reach.planned) return Placement::unsure;
      placement = Placement::as_planned;
    }
  }
  return placement;
}

TMAJIT_END
