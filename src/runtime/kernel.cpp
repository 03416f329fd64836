#include "runtime/binding.hpp"
#include "runtime/built_kernel.hpp"

#include <tmajit/error.hpp>

#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

struct PreparedLaunch::State {
  State(std::shared_ptr<const BuiltKernel> of, std::span<const Operand> inputs, const Operand& output)
      : kernel(std::move(of)), binding(*kernel, inputs, output) {}

  std::shared_ptr<const BuiltKernel> kernel;  // keeps the code loaded
  Binding binding;
};

PreparedLaunch::PreparedLaunch(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedLaunch::PreparedLaunch(PreparedLaunch&&) noexcept = default;
PreparedLaunch& PreparedLaunch::operator=(PreparedLaunch&&) noexcept = default;
PreparedLaunch::~PreparedLaunch() = default;

void PreparedLaunch::operator()(Stream stream) const {
  const Binding& binding = state_->binding;
  state_->kernel->loaded->launch(binding.shape(), binding.parameters(), stream);
}

const LaunchShape& PreparedLaunch::shape() const noexcept {
  return state_->binding.shape();
}
std::uint64_t PreparedLaunch::bytes_moved() const noexcept {
  return state_->binding.bytes_moved();
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

PreparedLaunch Kernel::prepare(std::span<const Operand> inputs, const Operand& output) const {
  return PreparedLaunch(std::make_unique<PreparedLaunch::State>(state_, inputs, output));
}

void Kernel::launch(std::span<const Operand> inputs, const Operand& output, Stream stream) const {
  const Binding binding(*state_, inputs, output);
  state_->loaded->launch(binding.shape(), binding.parameters(), stream);
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
