#pragma once

#include "ops/batches.hpp"
#include "ops/better_plan.hpp"

#include <tmajit/move.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

TMAJIT_BEGIN

class Attempts;

/// Everything that a plan holds except the runtime. The runtime's tables hold plans, so a reference back to
/// it would be a cycle. Members that every launch reads come first.
struct PlanState : std::enable_shared_from_this<PlanState> {
  mutable LaunchesByAlignment launches = {};  ///< empty without a device
  /// The launches for the planned addresses; null until they are made.
  mutable std::atomic<const PlacedLaunches*> as_planned{nullptr};
  Operation operation;
  std::string family;             ///< the only family that was considered; empty: any
  std::vector<KernelPlan> plans;  ///< plans of the moves that are not empty, in order
  std::vector<Kernel> kernels;    ///< kernels of the same moves, in order
  /// With WhenMissing::serve, if some of `plans` stand in for others: the plans of the kernels that are made
  /// in the background. Else empty.
  std::vector<KernelPlan> wanted = {};
  double planning_us = 0;
  std::vector<TensorReach> reaches;  ///< of the operation's tensors
  bool is_batch = false;             ///< all moves share one launch, whose table is in `batches`
  mutable Batches batches = {};
  std::shared_ptr<const Attempts> attempts = {};  ///< the plan's part in a trial; null if it takes none
  mutable BetterPlan better = {};
};

/// Throws what plan() throws.
[[nodiscard]] std::shared_ptr<const PlanState> make_plan(const Runtime& runtime, Operation operation,
                                                         std::string_view family);
/// make_plan() without the launches, for Attempts and launch(), which make their own.
[[nodiscard]] std::shared_ptr<PlanState> make_steps(const Runtime& runtime, Operation operation,
                                                    std::string_view family);
/// The plan that calls of `plan` use now: the better one, if there is one, else `plan` itself.
[[nodiscard]] const PlanState& current(const PlanState& plan) noexcept;
/// Enqueues a plan of this runtime on addresses. Their alignment or relative offsets may be new to the plan.
void launch(const Runtime& runtime, const PlanState& plan, const TensorAddresses& addresses, Stream stream);

/// The options with which a runtime makes plans.
[[nodiscard]] PlanOptions plan_options(const Runtime& runtime, std::string_view family = {});

TMAJIT_END
