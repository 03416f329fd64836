#pragma once

#include <tmajit/kernel_plan.hpp>
#include <tmajit/runtime.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

TMAJIT_BEGIN

/// A kernel that a background thread makes for a trial, because the caller may not wait (WhenMissing::serve).
class PendingKernel {
 public:
  /// Null if nothing keeps the caller from getting the kernel itself. Throws Error{unavailable} if the
  /// runtime's background threads do not take it.
  [[nodiscard]] static std::shared_ptr<PendingKernel> make_unless_ready(const Runtime& runtime,
                                                                        const KernelPlan& plan);
  /// The kernel; nothing while it is being made. Throws Error{unavailable} if it could not be made.
  [[nodiscard]] std::optional<Kernel> get() const;

 private:
  std::atomic<bool> done_{false};
  std::optional<Kernel> kernel_;  ///< valid once `done_` is set, like `error_`
  std::string error_;
};

TMAJIT_END
