#include "ops/pending_kernel.hpp"

#include "runtime/companion.hpp"
#include "runtime/readiness.hpp"

#include <tmajit/error.hpp>

TMAJIT_BEGIN

std::shared_ptr<PendingKernel> PendingKernel::make_unless_ready(const Runtime& runtime,
                                                                const KernelPlan& plan) {
  if (options_of(runtime).when_missing != WhenMissing::serve || ReadyKernels(runtime).has(plan))
    return nullptr;
  auto pending = std::make_shared<PendingKernel>();
  const auto note = [pending](const BackgroundResult& made) {
    if (pending->done_) return;
    pending->kernel_ = made.kernel;
    pending->error_ = made.error;
    pending->done_.store(true, std::memory_order_release);
  };
  if (!background_of(runtime).improve(request_for(plan, MadeBy::trial), {.tell = note}))
    throw Error(ErrorCode::unavailable, "no background thread makes it, and the caller does not wait for it");
  return pending;
}

std::optional<Kernel> PendingKernel::get() const {
  if (!done_.load(std::memory_order_acquire)) return std::nullopt;
  if (!kernel_) throw Error(ErrorCode::unavailable, error_);
  return kernel_;
}

TMAJIT_END
