#include "runtime/plan_launch.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

/// The image of its launch stands behind it.
struct alignas(cache_line) PreparedLaunch::State : WithBytesBehind<PreparedLaunch::State> {
  State(std::shared_ptr<const Kernel::State> its_kernel, const KernelPlan& its_plan)
      : kernel(std::move(its_kernel)), plan(its_plan) {
    const OperandParts parts = parts_of(plan);
    std::ranges::transform(parts, operands.begin(), &LaunchImage::Part::as_planned);
    write_image(behind(), *kernel, plan, parts);
  }
  [[nodiscard]] const LaunchImage& image() const noexcept {
    return *reinterpret_cast<const LaunchImage*>(behind());
  }

  std::shared_ptr<const Kernel::State> kernel;  // keeps the code loaded
  KernelPlan plan;
  std::array<DevicePtr, max_operands> operands;  ///< where they are
};

PreparedLaunch::PreparedLaunch(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedLaunch::PreparedLaunch(PreparedLaunch&&) noexcept = default;
PreparedLaunch& PreparedLaunch::operator=(PreparedLaunch&&) noexcept = default;
PreparedLaunch::~PreparedLaunch() = default;

void PreparedLaunch::operator()(Stream stream) const {
  state_->image()(state_->operands, stream);
}

void PreparedLaunch::rebind(List<DevicePtr> operands) {
  const std::uint32_t needed = state_->plan.state().problem.nest.operands;
  if (operands.size() != needed) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} addresses for a launch of {} operands; one each is needed, the destination's first",
                    operands.size(), needed));
  }
  std::ranges::copy(operands, state_->operands.begin());
}

const LaunchShape& PreparedLaunch::shape() const noexcept {
  return state_->plan.launch_shape();
}
std::uint64_t PreparedLaunch::bytes_moved() const noexcept {
  return state_->plan.bytes_moved();
}

std::shared_ptr<const Kernel::State> kept_of(KernelOrigin origin, std::shared_ptr<const Builder> builder,
                                             BuiltKernel built) {
  const Artifact& artifact = built.artifact;
  auto kept = std::make_shared<Kernel::State>(Kernel::State{.origin = std::move(origin),
                                                            .builder = std::move(builder),
                                                            .entry = artifact.entry,
                                                            .key = built.key,
                                                            .level = built.level,
                                                            .times = built.times,
                                                            .resources = artifact.resources,
                                                            .shared_bytes = built.shared_bytes,
                                                            .artifact = nullptr,
                                                            .device = std::move(built.device),
                                                            .loaded = std::move(built.loaded)});
  if (!built.on_disk) kept->artifact = std::make_unique<const Artifact>(std::move(built.artifact));
  return kept;
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
  require_plan(*state_, plan);
  return PreparedLaunch(std::unique_ptr<PreparedLaunch::State>(new (BytesBehind{image_bytes(plan)})
                                                                   PreparedLaunch::State(state_, plan)));
}

void Kernel::launch(const KernelPlan& plan, Stream stream) const {
  require_plan(*state_, plan);
  alignas(cache_line) std::array<std::byte, LaunchImage::max_bytes> memory;
  const OperandParts parts = parts_of(plan);
  std::array<DevicePtr, max_operands> operands;
  std::ranges::transform(parts, operands.begin(), &LaunchImage::Part::as_planned);
  write_image(memory.data(), *state_, plan, parts)(operands, stream);
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
