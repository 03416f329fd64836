#pragma once

#include "ops/given_tensors.hpp"
#include "plan/canonical.hpp"
#include "plan/move_kernel.hpp"

#include <tmajit/move.hpp>

#include <vector>

TMAJIT_BEGIN

/// One move with its kernel, ready to be launched.
struct PlannedMove {
  CanonicalNest nest;
  MoveKernel kernel;
  Kernel loaded;
  LaunchShape shape;
  std::vector<std::byte> parameter;  ///< for the addresses it was planned with
};

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
