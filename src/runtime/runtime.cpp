#include "runtime/companion.hpp"
#include "runtime/readiness.hpp"
#include "runtime/runtime_state.hpp"

#include <tmajit/counters.hpp>

#include <utility>

TMAJIT_BEGIN

Companion& companion_of(const Runtime& runtime, std::unique_ptr<Companion> (*make)(const Runtime&)) {
  std::atomic<Companion*>& companion = Inside::state(runtime)->companion;
  Companion* known = companion.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  std::unique_ptr<Companion> made = make(runtime);
  // If another thread has stored a companion first, that one is used and this one is deleted.
  if (companion.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) known = made.release();
  return *known;
}

const RuntimeOptions& options_of(const Runtime& runtime) {
  return Inside::state(runtime)->kernels.builder().options();
}

Counters counters(const Runtime& runtime) {
  return ledger_of(runtime)->counters();
}

std::vector<KernelRecord> history(const Runtime& runtime) {
  return ledger_of(runtime)->history();
}

Runtime make_runtime(RuntimeOptions options, Toolchain toolchain) {
  return Inside::make<Runtime>(RuntimeState::make(std::move(options), toolchain));
}

Runtime::Runtime(RuntimeOptions options) : state_(RuntimeState::make(std::move(options))) {}

Kernel Runtime::kernel(const KernelPlan& plan) const {
  return state_->kernels.get(request_for(plan));
}

Kernel Runtime::kernel(const Source& source, std::uint32_t shared_bytes) const {
  return state_->kernels.get({.custom = &source, .shared_bytes = shared_bytes});
}

const Chip& Runtime::chip() const noexcept {
  return state_->chip;
}

const std::shared_ptr<Device>& Runtime::device() const noexcept {
  return state_->kernels.builder().device();
}

TMAJIT_END
