#include "ops/move_plan.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

MoveExplanation MovePlan::explain() const {
  MoveExplanation explanation;
  explanation.planning_us = state_->planning_us;
  for (const PlannedMove& planned : state_->planned) {
    MoveStep step;
    step.kernel = name(planned.chosen.kernel.method);
    step.choice = planned.chosen.kernel.choice();
    step.canonical = planned.chosen.nest.text();
    step.shape.assign(planned.chosen.nest.shape.begin(),
                      planned.chosen.nest.shape.begin() + planned.chosen.nest.rank);
    step.tile.assign(planned.chosen.kernel.box.begin(),
                     planned.chosen.kernel.box.begin() + planned.chosen.kernel.rank);
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
