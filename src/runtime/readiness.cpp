#include "runtime/readiness.hpp"

#include "kernel/plan_state.hpp"
#include "runtime/runtime_state.hpp"

#include <memory>
#include <optional>
#include <utility>

TMAJIT_BEGIN

RuntimeState::RuntimeState(RuntimeOptions options, Toolchain toolchain)
    : kernels(std::move(options), toolchain),
      chip(kernels.builder().device() ? chip_of(kernels.builder().device()->info())
                                      : kernels.builder().options().chip) {}

std::shared_ptr<RuntimeState> RuntimeState::make(RuntimeOptions options, Toolchain toolchain) {
  const std::uint32_t threads = options.background_compiles;
  auto made = std::make_shared<RuntimeState>(std::move(options), toolchain);
  const auto make_kernel = [weak =
                                std::weak_ptr(made)](const KernelRequest& request) -> std::optional<Kernel> {
    const std::shared_ptr<RuntimeState> state = weak.lock();
    if (!state) return std::nullopt;
    return state->kernels.get(request);
  };
  made->background = std::make_unique<Background>(threads, make_kernel);
  return made;
}

KernelRequest request_for(const KernelPlan& plan, MadeBy made_by) noexcept {
  return {.plan = &plan, .shared_bytes = Inside::state(plan)->max_shared_bytes, .made_by = made_by};
}

ReadyKernels::ReadyKernels(const Runtime& runtime)
    : runtime_(runtime),
      nearby_(Inside::state(runtime)->kernels.builder().levels(),
              options_of(runtime).when_missing == WhenMissing::refuse) {}

bool ReadyKernels::has(const KernelPlan& plan) const {
  KernelTable& kernels = Inside::state(runtime_)->kernels;
  const KernelRequest request = request_for(plan);
  return kernels.has(request) || nearby_.has(kernels.builder().key_for(request));
}

Background& background_of(const Runtime& runtime) {
  return *Inside::state(runtime)->background;
}

const std::shared_ptr<Ledger>& ledger_of(const Runtime& runtime) {
  return Inside::state(runtime)->kernels.builder().ledger();
}

TMAJIT_END
