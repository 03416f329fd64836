#pragma once

#include "ops/move_plan.hpp"

#include <cstddef>

TMAJIT_BEGIN

/// The kernel of step `i` of a plan. A MissingKernelError also names the nearest kernel that is there, with
/// the facts in which it differs: one that can do the same work or, without one, the kernel that would do it
/// on tensors at aligned addresses.
[[nodiscard]] Kernel kernel_or_nearest(const Runtime& runtime, const PlanState& plan, std::size_t i);

TMAJIT_END
