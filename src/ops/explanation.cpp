#include "ops/move_plan.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

MoveExplanation MovePlan::explain() const {
  MoveExplanation explanation;
  explanation.planning_us = state_->planning_us;
  for (const PlannedMove& planned : state_->planned) {
    MoveStep step;
    step.kernel = name(planned.kernel.method);
    step.canonical = planned.nest.text();
    step.shape.assign(planned.nest.shape.begin(), planned.nest.shape.begin() + planned.nest.rank);
    step.tile.assign(planned.kernel.box.begin(), planned.kernel.box.begin() + planned.kernel.rank);
    step.tiles = planned.shape.grid[0];
    step.threads = planned.shape.block[0];
    step.shared_bytes = planned.shape.shared_bytes;
    step.registers = planned.loaded.artifact().resources.registers;
    explanation.steps.push_back(std::move(step));
  }
  return explanation;
}

std::string MoveExplanation::text() const {
  std::string out;
  for (const MoveStep& step : steps) {
    out += fmt::format("{}: {}, tile {}, {} CTAs of {} threads\n", step.kernel, step.canonical,
                       fmt::join(step.tile, "x"), step.tiles, step.threads);
  }
  return out;
}

TMAJIT_END
