#include "runtime/plan_launch.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

std::shared_ptr<const KernelState> make_kernel_state(KernelOrigin origin,
                                                     std::shared_ptr<const Builder> builder,
                                                     BuiltKernel built) {
  const Artifact& artifact = built.artifact;
  auto state = std::make_shared<KernelState>(KernelState{.origin = std::move(origin),
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
  // A kernel of a pack comes without its source: artifact() makes the rest anew.
  if (!built.is_kept && !artifact.source.empty())
    state->artifact = std::make_unique<const Artifact>(std::move(built.artifact));
  return state;
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
  require_shared_bytes(*state_, shape.shared_bytes);
  require_parameter_count(*state_, parameters.size());
  state_->loaded->launch(shape, parameters, stream);
}

TMAJIT_END
