#pragma once

#include <tmajit/kernel_plan.hpp>
#include <tmajit/operation.hpp>
#include <tmajit/tuning.hpp>

#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Options that the choice of an operation's kernels depends on.
struct PlanOptions {
  Chip chip = {};
  const TuningTable* tuning = nullptr;  ///< measured choices; null: the cost model alone
  std::string_view family = {};         ///< only kernels of this family; empty: any
};

/// The kernels that do an operation, in order; none if there is nothing to move. A pure function: no
/// compiler, no driver, no device. No destination may overlap another destination or a source. Throws
/// SpecError that names the tensors and the rule if one does, if shapes disagree, or if a destination would
/// be written twice (stride 0); Error{unsupported} if no kernel of `options.family` can do it;
/// Error{invalid_argument} for a chip with 0 SMs.
[[nodiscard]] TMAJIT_API std::vector<KernelPlan> plan_kernels(const Operation& operation,
                                                              const PlanOptions& options = {});

/// Every kernel that could do one move, the planner's choice first; none if there is nothing to move.
/// Throws as plan_kernels() does.
[[nodiscard]] TMAJIT_API std::vector<KernelPlan> plan_candidates(const Move& move,
                                                                 const PlanOptions& options = {});

TMAJIT_END
