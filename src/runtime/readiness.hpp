#pragma once

#include "cache/nearby_kernels.hpp"
#include "runtime/background.hpp"
#include "runtime/builder.hpp"

#include <tmajit/kernel_plan.hpp>
#include <tmajit/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

TMAJIT_BEGIN

/// A runtime with another compiler, for tests.
[[nodiscard]] Runtime make_runtime(RuntimeOptions options, Toolchain toolchain);

/// The request for a plan's kernel.
[[nodiscard]] KernelRequest request_for(const KernelPlan& plan) noexcept;

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

/// Counts what WhenMissing::serve has done since a runtime was made.
struct ServeCounts {
  std::atomic<std::uint64_t> served = 0;   ///< kernels that replaced one that was not there
  std::atomic<std::uint64_t> waited = 0;   ///< kernels that a caller had to wait for
  std::atomic<std::uint64_t> swapped = 0;  ///< launches that the better kernels have replaced
};
[[nodiscard]] const std::shared_ptr<ServeCounts>& serve_counts(const Runtime& runtime);

TMAJIT_END
