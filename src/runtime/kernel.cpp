#include "runtime/bound_launch.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

struct PreparedLaunch::State {
  BoundLaunch launch;
  std::array<DevicePtr, max_operands> by{};  ///< how far each operand lies from where it was planned
};

PreparedLaunch::PreparedLaunch(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedLaunch::PreparedLaunch(PreparedLaunch&&) noexcept = default;
PreparedLaunch& PreparedLaunch::operator=(PreparedLaunch&&) noexcept = default;
PreparedLaunch::~PreparedLaunch() = default;

void PreparedLaunch::operator()(Stream stream) const {
  state_->launch(state_->by, stream);
}

void PreparedLaunch::rebind(List<DevicePtr> operands) {
  const Problem& problem = state_->launch.plan().state().problem;
  if (operands.size() != problem.nest.operands) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} addresses for a launch of {} operands; one each is needed, the destination's first",
                    operands.size(), problem.nest.operands));
  }
  for (std::uint32_t i = 0; i < operands.size(); ++i) state_->by[i] = operands[i] - problem.address[i];
}

const LaunchShape& PreparedLaunch::shape() const noexcept {
  return state_->launch.plan().launch_shape();
}
std::uint64_t PreparedLaunch::bytes_moved() const noexcept {
  return state_->launch.plan().bytes_moved();
}

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
  return PreparedLaunch(
      std::unique_ptr<PreparedLaunch::State>(new PreparedLaunch::State{.launch = BoundLaunch(state_, plan)}));
}

void Kernel::launch(const KernelPlan& plan, Stream stream) const {
  const std::array<DevicePtr, max_operands> as_planned{};
  BoundLaunch(state_, plan)(as_planned, stream);
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
  const std::optional<std::uint32_t> count = state_->loaded->parameter_count();
  if (count && *count != parameters.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' takes {} parameters, and the launch gives {}.",
                                                         state_->artifact.entry, *count, parameters.size()));
  }
  state_->loaded->launch(shape, parameters, stream);
}

TMAJIT_END
