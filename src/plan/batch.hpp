#pragma once

// Plans operations of many copies as one launch.

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

/// Plans an operation as one launch, whose table has the address `table`. Returns nothing unless the
/// operation is a batch, or the cost model predicts that its many copies take longer in separate launches.
[[nodiscard]] std::optional<RaggedPlan> as_batch(const Operation& operation, DevicePtr table,
                                                 const PlanOptions& options);

/// Plans a kernel for each move that is not empty, in order. plan_kernels() calls it if as_batch() returns
/// nothing.
[[nodiscard]] std::vector<KernelPlan> plan_each(const Operation& operation, const PlanOptions& options);

TMAJIT_END
