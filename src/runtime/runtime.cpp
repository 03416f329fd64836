#include "kernel/plan_state.hpp"
#include "runtime/builder.hpp"
#include "runtime/single_flight.hpp"
#include "runtime/tuning_store.hpp"

#include <string>
#include <utility>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/xxhash.h>

TMAJIT_BEGIN

struct Runtime::State {
  explicit State(RuntimeOptions options)
      : tuning(options.cache_directory),
        builder(std::move(options)),
        chip(builder.device() ? chip_of(builder.device()->info()) : builder.options().chip) {}

  [[nodiscard]] Kernel get(const std::string& key, const KernelRequest& request) {
    return Kernel(kernels.get(llvm::xxHash64(key), key, [&] {
      return std::make_shared<const Kernel::State>(Kernel::State{builder.build(request)});
    }));
  }

  TuningStore tuning;
  Builder builder;
  Chip chip;
  SingleFlight<std::string, Kernel::State> kernels;
};

Runtime::Runtime(RuntimeOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

Kernel Runtime::kernel(const KernelPlan& plan) {
  return state_->get(plan.state().key, {.plan = &plan, .shared_bytes = plan.launch_shape().shared_bytes});
}

Kernel Runtime::kernel(const Source& source, std::uint32_t shared_bytes) {
  const KernelRequest request{.custom = &source, .shared_bytes = shared_bytes};
  return state_->get(memory_key(request), request);
}

const Chip& Runtime::chip() const noexcept {
  return state_->chip;
}

TuningTable& Runtime::tuning() noexcept {
  return state_->tuning.table();
}

bool Runtime::remember(const TunedChoice& choice) {
  return state_->tuning.remember(choice);
}

const std::shared_ptr<Device>& Runtime::device() const noexcept {
  return state_->builder.device();
}

TMAJIT_END
