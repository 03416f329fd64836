#pragma once

#include "move_problem.hpp"

#include <tmajit/device.hpp>
#include <tmajit/move.hpp>
#include <tmajit/runtime.hpp>

#include <memory>
#include <string>

namespace jitc {

/// What --device says to a command that plans and compiles but runs nothing.
struct PlanningChoice {
  std::shared_ptr<tmajit::Device> device;
  std::string why;  ///< why "auto" took no GPU; empty where it did
};

/// "auto": the first Hopper GPU, else an H200 that is not there; "h200": that one at once; "gpu", "gpu:N".
/// Throws Error{invalid_argument} for another text, Error{unavailable} for a GPU that there is not.
[[nodiscard]] PlanningChoice select_planning_device(const std::string& text);

/// plan_moves(), and progress where it takes long.
[[nodiscard]] tmajit::MovePlan make_plan(tmajit::Runtime& runtime, std::span<const tmajit::Move> moves);

}  // namespace jitc
