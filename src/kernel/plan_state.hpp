#pragma once

#include "kernel/family.hpp"

#include <memory>
#include <string>

TMAJIT_BEGIN

/// All that a KernelPlan holds. Never changes once it is made.
struct KernelPlanState {
  Candidate candidate;
  Problem problem;
  ParameterBlock parameters;  ///< maps not encoded
  LaunchShape shape;
  std::uint32_t most_shared_bytes = 0;  ///< dynamic, of any launch of the kernel
  std::string key;
  Prediction prediction;
  bool tuned = false;
};

/// The plan of a candidate for a problem. Throws Error{unsupported} if it needs more CTAs than a grid has.
[[nodiscard]] KernelPlan make_kernel_plan(Candidate candidate, Problem problem,
                                          const Prediction& prediction = {}, bool tuned = false);

TMAJIT_END
