#include "ops/move_plan.hpp"
#include "ops/rewrites.hpp"
#include "plan/gather_plan.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

std::string why(const PlannedMove& planned) {
  const MoveKernel& kernel = planned.chosen.kernel;
  switch (kernel.method) {
    case MoveMethod::rows:
      return "Both views are contiguous in the last dimension and aligned to 16 bytes: vectors are loaded "
             "and "
             "stored as they are.";
    case MoveMethod::transpose:
      return fmt::format(
          "The source is contiguous in dimension {}, the destination in dimension {}: blocks are transposed "
          "in "
          "registers and meet in shared memory{}.",
          kernel.column, kernel.rank - 1, kernel.staggered ? ", at any alignment" : "");
    case MoveMethod::direct_transpose:
      return fmt::format(
          "The source is contiguous in dimension {}, the destination in dimension {}: blocks are transposed "
          "in registers, and stored without meeting others.",
          kernel.column, kernel.rank - 1);
    case MoveMethod::engine_rows:
      return "Both views are contiguous in the last dimension and fit tensor maps: the copy engine loads and "
             "stores boxes.";
    case MoveMethod::engine_transpose:
      return fmt::format(
          "The source is contiguous in dimension {}, the destination in dimension {}: the copy engine loads "
          "swizzled boxes, threads transpose blocks in registers and store them.",
          kernel.column, kernel.rank - 1);
    case MoveMethod::gather:
      return fmt::format(
          "Dimension {} is short: lines of the source meet in shared memory, and vectors of runs of {} "
          "elements "
          "are picked from there.",
          is_short(planned.problem, kernel.rank - 1) ? kernel.rank - 1 : kernel.column,
          GatherLayout(kernel).run_elements);
    default: break;
  }
  if (kernel.padded) return "A part of the destination is filled, the rest comes from the source.";
  if (!planned.problem.expression.empty()) {
    return kernel.has_image() ? "An expression is computed on the way; a source that runs along another "
                                "dimension goes through "
                                "an image in shared memory."
                              : "An expression is computed on the way, on vectors of every source.";
  }
  if (kernel.has_image()) return "The source runs along another dimension, in lines too short for blocks.";
  return "Strides or alignment keep vectors from being stored as they are loaded.";
}

MoveStep explain_step(const PlannedMove& planned, const Move& move, const Chip& chip) {
  const MoveKernel& kernel = planned.chosen.kernel;
  const CanonicalNest& nest = planned.chosen.nest;
  const std::uint32_t shared = kernel.shared_bytes() + kernel.image_bytes();
  const std::uint32_t registers = planned.loaded.artifact().resources.registers;
  std::uint32_t ctas = resident_ctas(kernel);
  if (registers > 0)
    ctas = std::min(ctas, std::max(65536U / (((registers + 7) / 8 * 8) * kernel.threads), 1U));

  MoveStep step{.kernel = std::string(name(kernel.method)),
                .why = why(planned),
                .canonical = nest.text(),
                .rewrites = rewrites(move, planned),
                .shape = {nest.shape.begin(), nest.shape.begin() + nest.rank},
                .tile = {kernel.box.begin(), kernel.box.begin() + kernel.rank},
                .tiles = std::uint64_t{planned.shape.grid[0]} * kernel.stages,
                .threads = kernel.threads,
                .stages = kernel.stages,
                .shared_bytes = shared,
                .registers = registers,
                .ctas_per_sm = ctas,
                .bytes_in_flight = kernel.bytes_in_flight() * ctas,
                .bytes_read = planned.problem.bytes_read(),
                .bytes_written = planned.problem.bytes_written(),
                .predicted_us = predict_us(planned.chosen, planned.problem, chip),
                .tuned = planned.tuned,
                .choice = kernel.choice(),
                .alternatives = {}};
  for (const MoveCandidate& candidate : move_candidates(planned.problem)) {
    if (candidate.kernel == kernel) continue;
    step.alternatives.push_back({candidate.kernel.choice(), predict_us(candidate, planned.problem, chip)});
  }
  std::ranges::stable_sort(step.alternatives, {}, &MoveStep::Alternative::predicted_us);
  return step;
}

std::string step_text(const MoveStep& step) {
  std::string out = fmt::format("{}: {}\n  {}\n", step.kernel, step.canonical, step.why);
  for (const std::string& rewrite : step.rewrites) out += fmt::format("  - {}\n", rewrite);
  out += fmt::format(
      "  tile {}, {} tiles, CTAs of {} threads, {} an SM; {} registers, {} bytes of shared memory\n",
      fmt::join(step.tile, "x"), step.tiles, step.threads, step.ctas_per_sm, step.registers,
      step.shared_bytes);
  out +=
      fmt::format("  reads {} bytes, writes {}; {} bytes of loads in flight an SM; about {:.1f} us, by {}\n",
                  step.bytes_read, step.bytes_written, step.bytes_in_flight, step.predicted_us,
                  step.tuned ? "measurement" : "the cost model");
  return out;
}

}  // namespace

MoveExplanation MovePlan::explain() const {
  MoveExplanation explanation;
  explanation.planning_us = state_->planning_us;
  const Chip chip = planning_chip(*state_->runtime);
  for (std::size_t i = 0; i < state_->planned.size(); ++i) {
    const PlannedMove& planned = state_->planned[i];
    explanation.steps.push_back(explain_step(planned, state_->moves[state_->move_of[i]], chip));
    if (i == 0) {
      const MoveKernel first = move_candidates(planned.problem).front().kernel;
      explanation.shape_class = shape_class(planned.problem, first);
    }
  }
  return explanation;
}

std::string MoveExplanation::text() const {
  std::string out;
  for (const MoveStep& step : steps) out += step_text(step);
  return out;
}

TMAJIT_END
