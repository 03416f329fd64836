#pragma once

#include "ops/batches.hpp"

#include <tmajit/move.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

TMAJIT_BEGIN

class Attempts;

/// Everything that a plan holds except the runtime, whose tables hold plans. Members that every launch reads
/// come first.
struct PlanState {
  mutable LaunchesByAlignment launches = {};  ///< none without a device
  /// Those of them for where it was planned; null until they are there.
  mutable std::atomic<const PlacedLaunches*> as_planned{nullptr};
  Operation operation;
  std::string family;             ///< the only one that was considered; empty: any
  std::vector<KernelPlan> plans;  ///< plans of the moves that are not empty, in order
  std::vector<Kernel> kernels;    ///< kernels of the same moves, in order
  double planning_us = 0;
  std::vector<TensorReach> reaches;  ///< reaches of its tensors
  bool is_batch = false;             ///< all moves are one launch, whose table is in `batches`
  mutable Batches batches = {};
  std::shared_ptr<const Attempts> attempts = {};  ///< if its choice may improve
};

/// Throws what plan() throws.
[[nodiscard]] std::shared_ptr<const PlanState> make_plan(const Runtime& runtime, Operation operation,
                                                         std::string_view family);
/// The same without launches, for Attempts and for other memory.
[[nodiscard]] std::shared_ptr<PlanState> make_steps(const Runtime& runtime, Operation operation,
                                                    std::string_view family);
/// The plan that calls of a plan are made by now: another where its choice has improved.
[[nodiscard]] const PlanState& current(const PlanState& plan) noexcept;
/// Enqueues a plan of this runtime on addresses, which may be none of the class that it was made for.
void launch(const Runtime& runtime, const PlanState& plan, const TensorAddresses& addresses, Stream stream);

/// Options by which a runtime makes plans.
[[nodiscard]] PlanOptions plan_options(const Runtime& runtime, std::string_view family = {});

TMAJIT_END
