#include "kernel/plan_state.hpp"
#include "runtime/builder.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Throws Error{unavailable} if `kernel` is not loaded on a device.
void require_device(const BuiltKernel& kernel) {
  if (kernel.loaded) return;
  const std::string why = why_no_gpu();
  throw Error(ErrorCode::unavailable,
              fmt::format("the kernel cannot be launched: its runtime has no device ({}).",
                          why.empty() ? "pass open_gpu() as RuntimeOptions::device" : why));
}

void require_plan(const BuiltKernel& kernel, const KernelPlan& plan) {
  require_device(kernel);
  if (plan.key() != kernel.memory_key) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "a plan of the family {} is no launch of '{}', which was made of another plan or source; ask "
            "the runtime for the kernel of this plan.",
            plan.family().name, kernel.artifact.entry));
  }
  const Problem& problem = plan.state().problem;
  const auto end = problem.address.begin() + problem.nest.operands;
  if (std::find(problem.address.begin(), end, DevicePtr{0}) != end) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "a plan of the family {} was made without addresses; plan it for tensors that lie somewhere.",
            plan.family().name));
  }
}

}  // namespace

struct PreparedLaunch::State {
  State(std::shared_ptr<const BuiltKernel> of, const KernelPlan& of_plan)
      : kernel(std::move(of)), plan(of_plan), parameters(plan.state().parameters) {
    parameters.encode(*kernel->device);
    pointers = parameters.pointers(storage);
  }

  std::shared_ptr<const BuiltKernel> kernel;  // keeps the code loaded
  KernelPlan plan;
  ParameterBlock parameters;
  ParameterBlock::Pointers storage{};
  std::span<void* const> pointers;
};

PreparedLaunch::PreparedLaunch(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedLaunch::PreparedLaunch(PreparedLaunch&&) noexcept = default;
PreparedLaunch& PreparedLaunch::operator=(PreparedLaunch&&) noexcept = default;
PreparedLaunch::~PreparedLaunch() = default;

void PreparedLaunch::operator()(Stream stream) const {
  state_->kernel->loaded->launch(state_->plan.launch_shape(), state_->pointers, stream);
}

void PreparedLaunch::rebind(std::span<const DevicePtr> operands) {
  const Problem& problem = state_->plan.state().problem;
  if (operands.size() != problem.nest.operands) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} addresses for a launch of {} operands; one each is needed, the destination's first",
                    operands.size(), problem.nest.operands));
  }
  state_->parameters = state_->plan.state().parameters;
  for (std::uint32_t i = 0; i < operands.size(); ++i) {
    state_->parameters.move_operand(i, operands[i] - problem.address[i]);
  }
  state_->parameters.encode(*state_->kernel->device);
}

const LaunchShape& PreparedLaunch::shape() const noexcept {
  return state_->plan.launch_shape();
}
std::uint64_t PreparedLaunch::bytes_moved() const noexcept {
  return state_->plan.bytes_moved();
}

Kernel::Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}

const Artifact& Kernel::artifact() const noexcept {
  return state_->artifact;
}
const CacheKey& Kernel::key() const noexcept {
  return state_->key;
}
CacheLevel Kernel::level() const noexcept {
  return state_->level;
}
const StageTimes& Kernel::times() const noexcept {
  return state_->times;
}

PreparedLaunch Kernel::prepare(const KernelPlan& plan) const {
  require_plan(*state_, plan);
  return PreparedLaunch(std::make_unique<PreparedLaunch::State>(state_, plan));
}

void Kernel::launch(const KernelPlan& plan, Stream stream) const {
  require_plan(*state_, plan);
  ParameterBlock parameters = plan.state().parameters;
  parameters.encode(*state_->device);
  ParameterBlock::Pointers storage;
  state_->loaded->launch(plan.launch_shape(), parameters.pointers(storage), stream);
}

void Kernel::launch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const {
  require_device(*state_);
  if (shape.shared_bytes > state_->shared_bytes) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a launch of '{}' asks for {} bytes of dynamic shared memory, but the kernel was made "
                    "for at most {}; ask the runtime for it with that many.",
                    state_->artifact.entry, shape.shared_bytes, state_->shared_bytes));
  }
  state_->loaded->launch(shape, parameters, stream);
}

TMAJIT_END
