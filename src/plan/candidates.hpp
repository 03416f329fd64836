#pragma once

#include <tmajit/plan.hpp>
#include <tmajit/ragged.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// The shape class of a move that is not empty: the key of its tuned choices.
[[nodiscard]] ShapeClass shape_class(const Move& move, const PlanOptions& options);
/// The shape class of the moves of one kernel (kernels_of() in operations/list.hpp), not all of them empty.
[[nodiscard]] ShapeClass class_of_kernel(std::span<const Move> moves, const PlanOptions& options);
/// plan_candidates() for the moves of one kernel.
[[nodiscard]] std::vector<KernelPlan> candidates_of_kernel(std::span<const Move> moves,
                                                           const PlanOptions& options);

/// Plans of all families for the problem of `plan`, except plans with the same key. Returns none if the
/// caller chose the tile, and none for a batch.
[[nodiscard]] std::vector<KernelPlan> other_candidates(const KernelPlan& plan, const Chip& chip);

/// Finds the one of `choices`, those of a problem's candidates, that corresponds to `wanted`, a choice for
/// another shape of the same class. Returns its index: of an equal choice, else of the same kernel with the
/// most similar tile within a factor of two. Some families derive tiles from exact extents, which differ
/// within a class.
[[nodiscard]] std::optional<std::size_t> nearest(std::span<const KernelChoice> choices,
                                                 const KernelChoice& wanted);

/// The candidates of plan_candidates() that are worth measuring, at most `limit`: the first, then those that
/// are predicted to be fastest.
[[nodiscard]] std::vector<KernelChoice> worth_trying(std::span<const KernelPlan> candidates,
                                                     std::size_t limit);

/// Plans a batch of copies. Unlike plan_ragged(), considers tuned choices and all other options.
[[nodiscard]] RaggedPlan plan_batch(List<Tensor> destinations, List<Tensor> sources, DevicePtr table,
                                    const PlanOptions& options);

/// All candidates for a batch, that of plan_batch() first, and the batch's shape class.
struct BatchCandidates {
  ShapeClass shape_class;
  std::vector<RaggedPlan> plans;
};
[[nodiscard]] BatchCandidates batch_candidates(List<Tensor> destinations, List<Tensor> sources,
                                               DevicePtr table, const PlanOptions& options);

TMAJIT_END
