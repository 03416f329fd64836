#pragma once

#include <tmajit/kernel_plan.hpp>
#include <tmajit/list.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/runtime.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TMAJIT_BEGIN

struct PrefetchProgress {
  std::size_t done = 0;   ///< kernels that are made, failed or cancelled
  std::size_t total = 0;  ///< kernels of the prefetch; plans with equal keys count each
  std::string kernel;     ///< the choice of the kernel that was done last: "rows 1x2048, 256 threads"
  std::string error;      ///< why it could not be made; empty if it was made or cancelled
};

struct PrefetchOptions {
  /// Background threads that the runtime may have from now on, if these are more than it has:
  /// RuntimeOptions::background_compiles, at least 1.
  std::uint32_t threads = 0;
  /// Called after each kernel, by the thread that made it. Calls may overlap. When wait() returns, all calls
  /// have returned. It must not throw.
  std::function<void(const PrefetchProgress&)> progress = {};
};

/// Kernels that are made in the background, before they are asked for. A handle: copies are the same
/// prefetch. It goes on without a handle, and keeps its runtime alive until it ends. Thread-safe. When the
/// process ends, it waits for the kernels that are being made, and makes no other.
class TMAJIT_API Prefetch {
 public:
  /// A kernel that could not be made.
  struct Failure {
    std::string kernel;  ///< its choice
    std::string error;
  };

  [[nodiscard]] std::size_t done() const noexcept;  ///< kernels that are made, failed or cancelled
  [[nodiscard]] std::size_t total() const noexcept;
  [[nodiscard]] std::size_t made() const noexcept;  ///< kernels that are in memory, or were before
  /// The failures so far, in the order of the kernels.
  [[nodiscard]] std::vector<Failure> failures() const;
  /// Cancels the kernels that no thread makes yet.
  void cancel() const noexcept;
  /// Waits until all kernels are done.
  void wait() const;
  /// Waits until all kernels are done, for at most `limit`. Returns whether they are.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds limit) const;

  // Copied, never moved: a handle is always valid.
  Prefetch(const Prefetch&) = default;
  Prefetch& operator=(const Prefetch&) = default;
  ~Prefetch() = default;

 private:
  friend struct Inside;
  friend TMAJIT_API Prefetch prefetch(const Runtime& runtime, List<KernelPlan> plans,
                                      const PrefetchOptions& options);
  struct State;
  explicit Prefetch(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Makes the kernels of plans in the runtime's background threads: finds them in a level of the cache or
/// compiles them, and loads them if there is a device. Later plans find them in memory, as far as
/// RuntimeOptions::max_cached_kernels allows, or on disk. Returns at once.
[[nodiscard]] TMAJIT_API Prefetch prefetch(const Runtime& runtime, List<KernelPlan> plans,
                                           const PrefetchOptions& options = {});
/// The same for the kernels of operations, which plan() would choose. Only the views, and the alignment and
/// relative offset of the addresses matter; the tensors need no memory. Throws what plan_kernels() throws.
[[nodiscard]] TMAJIT_API Prefetch prefetch(const Runtime& runtime, List<Operation> operations,
                                           const PrefetchOptions& options = {});

TMAJIT_END
