#pragma once

#include "kernel/plan_state.hpp"
#include "runtime/kernel_state.hpp"

#include <memory>
#include <span>

TMAJIT_BEGIN

/// A plan's parameters, its tensor maps encoded, beside the kernel that takes them. A launch on other
/// addresses changes the bytes that depend on them, and nothing else. Never changes once it is made.
class BoundLaunch {
 public:
  /// Throws Error{unavailable} without a device, Error{invalid_argument} for a plan of another kernel or one
  /// that was made without addresses.
  BoundLaunch(std::shared_ptr<const Kernel::State> kernel, const KernelPlan& plan);

  /// Enqueues the kernel with operand i moved by `by[i]` bytes, modulo 2^64. Allocates nothing.
  void operator()(std::span<const DevicePtr> by, Stream stream) const;

  [[nodiscard]] const KernelPlan& plan() const noexcept { return plan_; }

 private:
  std::shared_ptr<const Kernel::State> kernel_;  // keeps the code loaded
  KernelPlan plan_;
  ParameterBlock parameters_;
};

/// Throws Error{unavailable} if `kernel` is not loaded on a device.
void require_device(const Kernel::State& kernel);

TMAJIT_END
