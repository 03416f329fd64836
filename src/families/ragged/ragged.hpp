#pragma once

#include "kernel/family.hpp"

#include <tmajit/tensor.hpp>

#include <cstddef>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// The problem that planners solve for a batch of copies, with as many elements as all tensors together, and
/// its candidates, the default one first.
struct RaggedBatch {
  Problem problem;
  std::vector<Candidate> candidates = {};
};

/// Throws the same errors as plan_ragged().
[[nodiscard]] RaggedBatch ragged_batch(std::span<const Tensor> destinations, std::span<const Tensor> sources,
                                       DevicePtr table, const Chip& chip);
/// The table that a candidate's kernel reads (RaggedPlan::table).
[[nodiscard]] const std::vector<std::byte>& ragged_table(const Candidate& candidate);

TMAJIT_END
