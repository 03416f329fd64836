#pragma once

#include "ops/move_plan.hpp"

#include <span>
#include <vector>

TMAJIT_BEGIN

/// Replaces plans whose kernels are not there by plans of other kernels for the same problems that are
/// (WhenMissing::serve). Among those it takes the one that is predicted to be fastest. A kernel may replace
/// another only if it stores the same bits, or if RuntimeOptions::allow_other_rounding is set. `plans` are
/// those of the operation's kernels that write elements. Returns the plans before the replacement; none if
/// nothing was replaced.
[[nodiscard]] std::vector<KernelPlan> serve_ready_kernels(const Runtime& runtime, const Operation& operation,
                                                          std::string_view family,
                                                          std::span<KernelPlan> plans);

TMAJIT_END
