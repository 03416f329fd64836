#pragma once

#include <tmajit/kernel_plan.hpp>
#include <tmajit/runtime.hpp>

TMAJIT_BEGIN

/// Runtime::kernel(). A MissingKernelError also names the nearest kernel that is there and can do the same
/// work, with the facts in which it differs.
[[nodiscard]] Kernel kernel_or_nearest(const Runtime& runtime, const KernelPlan& plan);

TMAJIT_END
