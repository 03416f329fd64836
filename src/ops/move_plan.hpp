#pragma once

#include "ops/given_tensors.hpp"
#include "plan/canonical.hpp"
#include "plan/cost_model.hpp"
#include "plan/move_kernel.hpp"

#include <tmajit/move.hpp>

#include <vector>

TMAJIT_BEGIN

/// One move with its kernel, ready to be launched.
struct PlannedMove {
  MoveProblem problem;
  MoveCandidate chosen;
  Kernel loaded;
  LaunchShape shape;
  std::vector<std::vector<std::byte>> parameters;  ///< for the addresses it was planned with
  bool tuned = false;                              ///< chosen by a measurement

  void launch(Stream stream) const;
};

/// A problem with the kernel of one of its candidates, compiled and loaded.
[[nodiscard]] PlannedMove planned_with(Runtime& runtime, const MoveProblem& problem,
                                       const MoveCandidate& candidate);
/// What the runtime's device is, as far as planning goes.
[[nodiscard]] Chip planning_chip(const Runtime& runtime);

struct MovePlan::State {
  Runtime* runtime = nullptr;
  std::vector<Move> moves;
  GivenTensors given;                ///< whose addresses operator() takes
  std::vector<PlannedMove> planned;  ///< of the moves that move anything, in order
  std::vector<std::size_t> move_of;  ///< the move that planned[i] does
  std::vector<Kernel> kernels;
  std::uint64_t bytes = 0;
  double planning_us = 0;
};

TMAJIT_END
