#pragma once

#include "kernel/plan_state.hpp"

#include <tmajit/move.hpp>

#include <string>
#include <vector>

TMAJIT_BEGIN

struct MovePlan::State {
  Runtime* runtime = nullptr;
  Operation operation;
  std::string family;                    ///< the only one that was considered; empty: any
  std::vector<KernelPlan> plans;         ///< of the moves that move anything, in order
  std::vector<Kernel> kernels;           ///< likewise
  std::vector<PreparedLaunch> launches;  ///< likewise; none without a device
  double planning_us = 0;
};

/// What plans of a runtime are made by.
[[nodiscard]] PlanOptions plan_options(Runtime& runtime, std::string_view family = {});

TMAJIT_END
