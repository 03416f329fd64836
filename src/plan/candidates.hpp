#pragma once

#include <tmajit/plan.hpp>
#include <tmajit/ragged.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// The class of a move that moves anything, by which choices for it are kept.
[[nodiscard]] ShapeClass shape_class(const Move& move, const PlanOptions& options);

/// The other kernels that could do what a plan does, in any family, with other keys; none for a tile of the
/// caller's choice or for a batch.
[[nodiscard]] std::vector<KernelPlan> other_candidates(const KernelPlan& plan, const Chip& chip);

/// The one of `choices` that a choice of the same class, but maybe of another shape, stands for: itself, or
/// the same kernel with the tile that is nearest, if it is near. Some families' tiles follow from the
/// extents, which a class has only by their logarithms.
[[nodiscard]] std::optional<std::size_t> nearest(std::span<const KernelChoice> choices,
                                                 const KernelChoice& wanted);

/// The candidates of plan_candidates() that are worth measuring, at most `most`: the first, then those that
/// are predicted to be fastest.
[[nodiscard]] std::vector<KernelChoice> worth_trying(std::span<const KernelPlan> candidates,
                                                     std::size_t most);

/// A batch of copies by the kernel that a planner takes, tuned choices included: plan_ragged().
[[nodiscard]] RaggedPlan plan_batch(List<Tensor> destinations, List<Tensor> sources, DevicePtr table,
                                    const PlanOptions& options);

/// Every kernel that could do a batch, that of plan_batch() first, and the batch's class.
struct BatchCandidates {
  ShapeClass shape_class;
  std::vector<RaggedPlan> plans;
};
[[nodiscard]] BatchCandidates batch_candidates(List<Tensor> destinations, List<Tensor> sources,
                                               DevicePtr table, const PlanOptions& options);

TMAJIT_END
