#pragma once

#include "kernel/family.hpp"

#include <tmajit/tensor.hpp>

#include <cstddef>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// A batch of copies as a planner sees it: as many elements as all tensors have, and the kernels that could
/// move them, the usual one first.
struct RaggedBatch {
  Problem problem;
  std::vector<Candidate> candidates = {};
};

/// Throws what plan_ragged() throws.
[[nodiscard]] RaggedBatch ragged_batch(std::span<const Tensor> destinations, std::span<const Tensor> sources,
                                       DevicePtr table, const Chip& chip);
/// The table that the kernel of such a candidate reads (RaggedPlan::table).
[[nodiscard]] const std::vector<std::byte>& ragged_table(const Candidate& candidate);

TMAJIT_END
