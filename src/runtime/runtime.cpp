#include "kernel/plan_state.hpp"
#include "runtime/builder.hpp"
#include "runtime/companion.hpp"
#include "runtime/single_flight.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/xxhash.h>

TMAJIT_BEGIN

struct Runtime::State {
  explicit State(RuntimeOptions options)
      : builder(std::move(options)),
        chip(builder.device() ? chip_of(builder.device()->info()) : builder.options().chip) {}
  ~State() { delete companion.load(std::memory_order_acquire); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] Kernel get(const std::string& key, const KernelRequest& request) {
    return Kernel(kernels.get(llvm::xxHash64(key), key, [&] {
      return std::make_shared<const Kernel::State>(Kernel::State{builder.build(request)});
    }));
  }

  Builder builder;
  Chip chip;
  SingleFlight<std::string, Kernel::State> kernels;
  std::atomic<Companion*> companion{nullptr};
};

Companion& companion_of(const Runtime& runtime, std::unique_ptr<Companion> (*make)(const Runtime&)) {
  std::atomic<Companion*>& companion = runtime.state().companion;
  Companion* known = companion.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  std::unique_ptr<Companion> made = make(runtime);
  // Another thread may have been first: its companion stays, and this one goes.
  if (companion.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
  return *known;
}

const std::optional<std::filesystem::path>& cache_directory_of(const Runtime& runtime) {
  return runtime.state().builder.options().cache_directory;
}

Runtime::Runtime(RuntimeOptions options) : state_(std::make_shared<State>(std::move(options))) {}

Kernel Runtime::kernel(const KernelPlan& plan) const {
  return state_->get(plan.state().key, {.plan = &plan, .shared_bytes = plan.launch_shape().shared_bytes});
}

Kernel Runtime::kernel(const Source& source, std::uint32_t shared_bytes) const {
  const KernelRequest request{.custom = &source, .shared_bytes = shared_bytes};
  return state_->get(memory_key(request), request);
}

Runtime::State& Runtime::state() const noexcept {
  return *state_;
}

const Chip& Runtime::chip() const noexcept {
  return state_->chip;
}

const std::shared_ptr<Device>& Runtime::device() const noexcept {
  return state_->builder.device();
}

TMAJIT_END
