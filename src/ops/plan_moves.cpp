#include "operations/list.hpp"
#include "ops/attempts.hpp"
#include "ops/missing.hpp"
#include "ops/served_kernels.hpp"
#include "ops/swap.hpp"
#include "spec/inside.hpp"

#include <chrono>
#include <optional>
#include <utility>

TMAJIT_BEGIN

PlanOptions plan_options(const Runtime& runtime, std::string_view family) {
  return {.chip = runtime.chip(), .tuning = &tuning(runtime), .family = family};
}

namespace {

/// Whether the operation's lists of tensors fit its moves. Operation is a plain struct, in which a caller may
/// have set only the moves.
bool lists_its_tensors(const Operation& operation) {
  std::size_t sources = 0;
  for (const Move& move : operation.moves) sources += move.sources.size();
  const auto fits = [](std::size_t given, std::size_t parts) {
    return given == parts || (given == 1 && parts > 0);
  };
  // A reduction of zero elements has a move without sources.
  return fits(operation.destinations.size(), operation.moves.size()) &&
         (sources == 0 || operation.sources.size() == sources || shares_sources(operation));
}

}  // namespace

std::shared_ptr<PlanState> make_steps(const Runtime& runtime, Operation operation, std::string_view family) {
  using Clock = std::chrono::steady_clock;
  if (!lists_its_tensors(operation)) operation = Operation::of(std::move(operation.moves));
  const PlanOptions options = plan_options(runtime, family);
  const Clock::time_point start = Clock::now();
  const std::optional<RaggedPlan> batch = as_batch(operation, 0, options);
  std::vector<KernelPlan> plans = batch ? std::vector{batch->kernel} : plan_each(operation, options);
  const double planning_us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();

  auto made = std::make_shared<PlanState>();
  made->operation = std::move(operation);
  made->reaches = reaches_of(made->operation);
  made->is_batch = batch.has_value();
  made->family = family;
  made->plans = std::move(plans);
  made->planning_us = planning_us;
  if (!made->is_batch) {
    made->wanted = serve_ready_kernels(runtime, made->operation, made->family, made->plans);
  }
  for (std::size_t i = 0; i < made->plans.size(); ++i)
    made->kernels.push_back(kernel_or_nearest(runtime, *made, i));
  return made;
}

std::shared_ptr<const PlanState> make_plan(const Runtime& runtime, Operation operation,
                                           std::string_view family) {
  std::shared_ptr<PlanState> made = make_steps(runtime, std::move(operation), family);
  if (made->is_batch) return made;
  made->attempts = Attempts::make(runtime, *made);
  if (runtime.device() && !made->attempts) {
    made->as_planned =
        &made->launches.add(PlacedLaunches::make(made->operation, made->reaches, made->plans, made->kernels));
  }
  swap_when_made(runtime, made, *made);
  return made;
}

const PlanState& current(const PlanState& plan) noexcept {
  const PlanState* const better = plan.better.newest();
  return better != nullptr ? *better : plan;
}

namespace {

/// Whether these are the addresses of the operation's tensors.
bool are_planned(const TensorAddresses& addresses, const Operation& operation) {
  std::size_t next = 0;
  for (const auto* const tensors : {&operation.destinations, &operation.sources}) {
    for (const Tensor& tensor : *tensors) {
      if (addresses[next++] != tensor.address) return false;
    }
  }
  return true;
}

/// Launches a plan on addresses for which LaunchesByAlignment::find() has no launches: tensors may overlap,
/// their alignment or interleaving is new, or the plan takes part in a trial.
[[gnu::cold, gnu::noinline]] void launch_checked(const Runtime& runtime, const PlanState& plan,
                                                 const TensorAddresses& addresses, Stream stream) {
  const bool may_be_batch = plan.operation.moves.size() > 1 || plan.is_batch;
  if (may_be_batch && plan.batches.launch_known(runtime, addresses, stream)) return;
  if (plan.attempts && plan.attempts->launch(runtime, addresses, stream)) return;
  Operation moved = moved_to(addresses, plan.operation);
  if (!moved.one_launch) check_operation(moved.moves);
  const PlacedLaunches* const known = plan.launches.find_legal(addresses);
  if (known != nullptr) return (*known)(addresses, stream);
  if (!runtime.device() && !plan.kernels.empty()) require_device(*Inside::state(plan.kernels.front()));
  if (auto batch = as_batch(moved, unplaced_table, plan_options(runtime, plan.family)))
    return plan.batches.launch(runtime, std::move(*batch), addresses, are_planned(addresses, plan.operation),
                               stream);
  const auto made = make_steps(runtime, std::move(moved), plan.family);
  auto launches = PlacedLaunches::make(made->operation, plan.reaches, made->plans, made->kernels);
  if (plan.is_batch || plan.launches.full()) return (*launches)(addresses, stream);
  plan.launches.add(std::move(launches))(addresses, stream);
  swap_when_made(runtime, plan.shared_from_this(), *made);
}

std::vector<DevicePtr> addresses_of(std::span<const Tensor> tensors) {
  std::vector<DevicePtr> addresses;
  for (const Tensor& tensor : tensors) addresses.push_back(tensor.address);
  return addresses;
}

}  // namespace

void launch(const Runtime& runtime, const PlanState& plan, const TensorAddresses& addresses, Stream stream) {
  const PlacedLaunches* const known = plan.launches.find(addresses);
  if (known != nullptr) return (*known)(addresses, stream);
  launch_checked(runtime, plan, addresses, stream);
}

Plan::Plan(const Runtime& runtime, std::shared_ptr<const PlanState> state)
    : runtime_(runtime), state_(std::move(state)) {}

Plan plan(const Runtime& runtime, const Operation& operation, std::string_view family) {
  return Inside::make<Plan>(runtime, make_plan(runtime, operation, family));
}

void Plan::operator()(Stream stream) const {
  const PlacedLaunches* const launches = state_->as_planned.load(std::memory_order_acquire);
  if (launches != nullptr) return launches->as_planned(stream);
  const Operation& operation = state_->operation;
  if (operation.moves.size() > 1 && state_->batches.launch_as_planned(runtime_, stream)) return;
  launch(runtime_, *state_, {addresses_of(operation.destinations), addresses_of(operation.sources)}, stream);
}

void Plan::operator()(List<DevicePtr> destinations, List<DevicePtr> sources, Stream stream) const {
  launch(runtime_, *state_, {destinations, sources}, stream);
}

std::uint64_t Plan::bytes_moved() const noexcept {
  std::uint64_t bytes = 0;
  for (const KernelPlan& plan : current(*state_).plans) bytes += plan.bytes_moved();
  return bytes;
}
std::span<const Kernel> Plan::kernels() const noexcept {
  return current(*state_).kernels;
}
std::span<const KernelPlan> Plan::plans() const noexcept {
  return current(*state_).plans;
}
const Operation& Plan::operation() const noexcept {
  return state_->operation;
}

TMAJIT_END
