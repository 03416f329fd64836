#pragma once

#include "cache/nearby_kernels.hpp"
#include "runtime/background.hpp"
#include "runtime/builder.hpp"

#include <tmajit/kernel_plan.hpp>
#include <tmajit/runtime.hpp>

#include <memory>

TMAJIT_BEGIN

/// A runtime with another compiler, for tests.
[[nodiscard]] Runtime make_runtime(RuntimeOptions options, Toolchain toolchain);

/// The request for a plan's kernel by a caller or, with another `made_by`, by a background thread.
[[nodiscard]] KernelRequest request_for(const KernelPlan& plan, MadeBy made_by = MadeBy::caller) noexcept;

/// Tells which plans' kernels a runtime can launch without a compiler: from memory, or from a level of the
/// cache on this machine. A fleet's store is not asked, because its answer takes a round trip. Levels name
/// their compilers once, when the object is made.
class ReadyKernels {
 public:
  explicit ReadyKernels(const Runtime& runtime);
  [[nodiscard]] bool has(const KernelPlan& plan) const;

 private:
  const Runtime& runtime_;
  NearbyKernels nearby_;
};

/// The background threads of a runtime.
[[nodiscard]] Background& background_of(const Runtime& runtime);

/// The ledger of a runtime. A background thread holds it, because it may outlive the runtime.
[[nodiscard]] const std::shared_ptr<Ledger>& ledger_of(const Runtime& runtime);

TMAJIT_END
