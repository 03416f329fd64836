#pragma once

#include "kernel/family.hpp"

#include <memory>
#include <string>

TMAJIT_BEGIN

/// The contents of a KernelPlan, immutable.
struct KernelPlanState {
  Candidate candidate;
  Problem problem;
  ParameterBlock parameters;  ///< its tensor maps are not yet encoded
  LaunchShape launch_shape;
  std::uint32_t max_shared_bytes = 0;  ///< maximum dynamic shared memory over all launches of the kernel
  std::string key;                     ///< family, facts and expressions: all that determines the source
  Prediction prediction;
  bool tuned = false;
};

/// The plan of a candidate for a problem. Throws Error{unsupported} if it needs more CTAs than a grid has.
[[nodiscard]] KernelPlan make_kernel_plan(Candidate candidate, Problem problem,
                                          const Prediction& prediction = {}, bool tuned = false);

TMAJIT_END
