#include "ops/move_plan.hpp"
#include "plan/candidates.hpp"
#include "spec/inside.hpp"
#include "spec/limits.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t register_unit = 8;  // granularity in which threads are allocated registers

using Dimensions = std::vector<std::uint32_t>;

/// "Dimension 2", "Dimensions 0, 2"
std::string listed(const Dimensions& dimensions) {
  return fmt::format("{} {}", dimensions.size() == 1 ? "Dimension" : "Dimensions",
                     fmt::join(dimensions, ", "));
}

template <class Condition>
Dimensions dimensions_where(const TensorView& view, Condition holds) {
  Dimensions found;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (holds(d)) found.push_back(d);
  }
  return found;
}

/// The steps from a move's views to its kernel's loop nest, one sentence each.
std::vector<std::string> rewrites(const KernelPlanState& planned) {
  std::vector<std::string> out = planned.candidate.family->rewrites(planned.candidate);
  if (planned.problem.is<TileProblem>()) return out;
  const auto family_steps = static_cast<std::ptrdiff_t>(out.size());
  const TensorView& to = planned.problem.destination;
  const CanonicalNest& nest = planned.candidate.nest;

  const Dimensions ones = dimensions_where(to, [&](std::uint32_t d) { return to.shape[d] == 1; });
  if (!ones.empty()) out.push_back(listed(ones) + " of extent 1 dropped.");
  const Dimensions backwards =
      dimensions_where(to, [&](std::uint32_t d) { return to.shape[d] > 1 && to.strides[d] < 0; });
  if (!backwards.empty()) {
    out.push_back(listed(backwards) + " walked from the other end.");
  }
  const Dimensions nontrivial = dimensions_where(to, [&](std::uint32_t d) { return to.shape[d] > 1; });
  const auto stride = [&](std::uint32_t d) { return std::abs(to.strides[d]); };
  if (!std::ranges::is_sorted(nontrivial, std::ranges::greater_equal{}, stride)) {
    out.emplace_back("Dimensions ordered by the destination's strides.");
  }
  const std::uint32_t joined = planned.problem.joined;
  const std::uint32_t merged = nest.rank + (joined > 1 ? 1 : 0);
  if (merged < nontrivial.size()) {
    out.push_back(fmt::format("Dimensions that every view walks as one merged: {} become {}.",
                              nontrivial.size(), merged));
  }
  if (joined > 1) {
    out.push_back(fmt::format("{} elements of {} that stay together move as one of {} bytes.", joined,
                              name(to.type), planned.problem.element_bytes(0)));
  }
  if (nest.windowed) out.emplace_back("The source seen as a window of the destination.");
  if (nest.operand != planned.problem.nest.operand) {
    out.emplace_back("A dimension turned round, so that the source's lines run forwards.");
  }
  // The family's own steps come last.
  std::rotate(out.begin(), out.begin() + family_steps,
              out.end());  // not std::ranges::rotate(): clang 14 rejects it
  return out;
}

void sort_by_time(std::vector<MoveStep::Alternative>& alternatives) {
  std::ranges::stable_sort(alternatives, {}, &MoveStep::Alternative::predicted_us);
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

MoveStep explain(const Runtime& runtime, const KernelPlan& plan) {
  const KernelPlanState& state = *Inside::state(plan);
  const CanonicalNest& nest = state.candidate.nest;
  const KernelShape shape = plan.shape();
  const std::uint32_t registers = runtime.kernel(plan).resources().registers;
  std::uint32_t ctas = shape.ctas_per_sm;
  if (registers > 0) {
    const std::uint32_t allocated = (registers + register_unit - 1) / register_unit * register_unit;
    ctas = std::min(ctas, std::max(registers_per_sm / (allocated * shape.threads), 1U));
  }
  MoveStep step;
  step.kernel = plan.family().name;
  step.why = plan.why();
  step.canonical = nest.text();
  step.rewrites = rewrites(state);
  step.shape.assign(nest.shape.begin(), nest.shape.begin() + nest.rank);
  step.choice = plan.choice().text();
  step.tile = shape.tile;
  step.tiles = shape.tiles;
  step.threads = shape.threads;
  step.stages = shape.stages;
  step.shared_bytes = shape.dynamic_shared_bytes + shape.static_shared_bytes;
  step.registers = registers;
  step.ctas_per_sm = ctas;
  step.bytes_in_flight = shape.bytes_in_flight * ctas;
  step.bytes_read = plan.bytes_read();
  step.bytes_written = plan.bytes_written();
  step.predicted_us = plan.predicted_us();
  step.tuned = plan.tuned();
  for (const KernelPlan& other : other_candidates(plan, runtime.chip()))
    step.alternatives.push_back({other.choice().text(), other.predicted_us()});
  sort_by_time(step.alternatives);
  return step;
}

MoveExplanation Plan::explain() const {
  MoveExplanation explanation;
  const PlanState& state = current(*state_);
  explanation.planning_us = state.planning_us;
  for (const KernelPlan& plan : state.plans) explanation.steps.push_back(tmajit::explain(runtime_, plan));
  if (state.is_batch) {
    const BatchTensors tensors(state.operation);
    const BatchCandidates batch =
        batch_candidates(tensors.destinations, tensors.sources, 0, plan_options(runtime_, state.family));
    MoveStep& step = explanation.steps.front();
    for (std::size_t n = 1; n < batch.plans.size(); ++n) {
      const KernelPlan& other = batch.plans[n].kernel;
      step.alternatives.push_back({other.choice().text(), other.predicted_us()});
    }
    sort_by_time(step.alternatives);
    step.rewrites.push_back(
        fmt::format("All {} tensors as one batch, in one launch.", tensors.sources.size()));
    explanation.shape_class = batch.shape_class.text();
    return explanation;
  }
  const auto kernels = kernels_of(state.operation.moves);
  const auto first = std::ranges::find_if(kernels, writes_elements);
  if (first != kernels.end())
    explanation.shape_class = class_of_kernel(*first, plan_options(runtime_, state.family)).text();
  return explanation;
}

std::string MoveExplanation::text() const {
  std::string out;
  for (const MoveStep& step : steps) out += step_text(step);
  return out;
}

TMAJIT_END
