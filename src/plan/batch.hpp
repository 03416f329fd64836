#pragma once

/// Operations of many copies as one launch.
#include <tmajit/move.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/ragged.hpp>

#include <optional>
#include <vector>

TMAJIT_BEGIN

/// The tensors of an operation's moves, each of which copies one source.
struct BatchTensors {
  explicit BatchTensors(const Operation& operation);
  std::vector<Tensor> destinations;
  std::vector<Tensor> sources;
};

/// An operation as one launch, whose table lies at `table`: a batch by definition, or more than a few copies
/// that take longer one by one, as the cost model has it. Nothing for any other operation.
[[nodiscard]] std::optional<RaggedPlan> as_batch(const Operation& operation, DevicePtr table,
                                                 const PlanOptions& options);

/// A kernel for each move of an operation that moves anything, in order; plan_kernels() takes them where
/// as_batch() has nothing.
[[nodiscard]] std::vector<KernelPlan> plan_each(const Operation& operation, const PlanOptions& options);

TMAJIT_END
