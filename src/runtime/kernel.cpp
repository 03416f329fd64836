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

void PreparedLaunch::rebind(std::span<const DevicePtr> operands) {
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

Kernel::State::State(KernelOrigin its_origin, std::shared_ptr<const Builder> its_builder, BuiltKernel&& built)
    : origin(std::move(its_origin)),
      builder(std::move(its_builder)),
      entry(std::move(built.artifact.entry)),
      key(built.key),
      level(built.level),
      times(built.times),
      resources(built.artifact.resources),
      shared_bytes(built.shared_bytes),
      device(std::move(built.device)),
      loaded(std::move(built.loaded)) {
  if (built.on_disk) return;
  built.artifact.entry = entry;
  artifact = std::make_unique<const Artifact>(std::move(built.artifact));
}

Artifact Kernel::artifact() const {
  if (state_->artifact) return *state_->artifact;
  return state_->builder->artifact(state_->key, state_->origin.request());
}
const std::string& Kernel::entry() const noexcept {
  return state_->entry;
}
const Resources& Kernel::resources() const noexcept {
  return state_->resources;
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
                    state_->entry, shape.shared_bytes, state_->shared_bytes));
  }
  const std::optional<std::uint32_t> count = state_->loaded->parameter_count();
  if (count && *count != parameters.size()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' takes {} parameters, and the launch gives {}.",
                                                         state_->entry, *count, parameters.size()));
  }
  state_->loaded->launch(shape, parameters, stream);
}

TMAJIT_END
