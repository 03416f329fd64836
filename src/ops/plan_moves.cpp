#include "ops/move_plan.hpp"

#include <tmajit/error.hpp>

#include <chrono>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

void require_count(std::size_t count, std::size_t needed, std::string_view what) {
  if (count == needed) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} addresses of {}; the plan has {}, and needs one of each", count, what, needed));
}

/// The operation on the same tensors at other addresses. A move's tensors lie where they lay in those that
/// the operation was given: a concatenation is many moves into parts of one destination, a slice begins
/// somewhere in its source. Throws Error{invalid_argument} if there are not as many addresses as tensors were
/// given.
Operation moved_to(std::span<const DevicePtr> destinations, std::span<const DevicePtr> sources,
                   Operation operation) {
  require_count(destinations.size(), operation.destinations.size(), "destinations");
  require_count(sources.size(), operation.sources.size(), "sources");
  // Of moves that were given one by one the sources follow each other; of an operation each move has its own,
  // or one move has all.
  std::size_t next = 0;
  for (std::size_t i = 0; i < operation.moves.size(); ++i) {
    Move& move = operation.moves[i];
    const std::size_t to = destinations.size() == 1 ? 0 : i;
    move.destination.address += destinations[to] - operation.destinations[to].address;
    for (Tensor& source : move.sources) {
      const std::size_t from = sources.size() == 1 ? 0 : next++;
      source.address += sources[from] - operation.sources[from].address;
    }
  }
  return Operation::of(std::move(operation.moves));
}

}  // namespace

PlanOptions plan_options(Runtime& runtime, std::string_view family) {
  return {.chip = runtime.chip(), .tuning = &runtime.tuning(), .family = family};
}

MovePlan::MovePlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

MovePlan plan(Runtime& runtime, const Operation& operation, std::string_view family) {
  using Clock = std::chrono::steady_clock;
  auto state = std::make_shared<MovePlan::State>();
  state->runtime = &runtime;
  state->operation = operation;
  state->family = family;
  const PlanOptions options = plan_options(runtime, family);
  const Clock::time_point start = Clock::now();
  state->plans = plan(operation, options);
  state->planning_us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  for (const KernelPlan& step : state->plans) {
    state->kernels.push_back(runtime.kernel(step));
    if (runtime.device()) state->launches.push_back(state->kernels.back().prepare(step));
  }
  return MovePlan(std::move(state));
}

void MovePlan::operator()(Stream stream) const {
  if (state_->launches.size() < state_->plans.size())
    state_->kernels.front().launch(state_->plans.front());  // says why
  for (const PreparedLaunch& launch : state_->launches) launch(stream);
}

void MovePlan::operator()(std::span<const DevicePtr> destinations, std::span<const DevicePtr> sources,
                          Stream stream) const {
  const Operation moved = moved_to(destinations, sources, state_->operation);
  plan(*state_->runtime, moved, state_->family)(stream);
}

std::uint64_t MovePlan::bytes_moved() const noexcept {
  std::uint64_t bytes = 0;
  for (const KernelPlan& plan : state_->plans) bytes += plan.bytes_moved();
  return bytes;
}
std::span<const Kernel> MovePlan::kernels() const noexcept {
  return state_->kernels;
}
std::span<const KernelPlan> MovePlan::plans() const noexcept {
  return state_->plans;
}
const Operation& MovePlan::operation() const noexcept {
  return state_->operation;
}

TMAJIT_END
