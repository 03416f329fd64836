#include "families/list.hpp"
#include "families/ragged/ragged.hpp"
#include "families/shared/shape_class.hpp"
#include "kernel/plan_state.hpp"
#include "operations/list.hpp"
#include "operations/tiles/tiles.hpp"
#include "plan/batch.hpp"
#include "plan/candidates.hpp"
#include "plan/cost_model.hpp"
#include "spec/chip_rules.hpp"
#include "spec/inside.hpp"

#include <tmajit/plan.hpp>

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::size_t max_candidates = 48;  // memory is reserved for this many candidates of a problem

/// A nest as error messages show it: "extents 64x128, the destination's strides 128,1, the source's strides
/// 1,64".
std::string nest_text(const CanonicalNest& nest) {
  const auto list = [&](const auto& numbers, std::string_view separator) {
    return nest.rank == 0 ? std::string("none")
                          : fmt::to_string(fmt::join(std::span(numbers).first(nest.rank), separator));
  };
  std::string text = fmt::format("extents {}", list(nest.shape, "x"));
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    const std::string owner = i == 0               ? "the destination's"
                              : nest.operands == 2 ? "the source's"
                                                   : fmt::format("source {}'s", i - 1);
    text += fmt::format(", {} strides {}", owner, list(nest.operand[i].strides, ","));
  }
  return text;
}

std::vector<Candidate> candidates_for(const Problem& problem, std::string_view family) {
  std::vector<Candidate> candidates;
  candidates.reserve(max_candidates);
  const auto add = [&](const Family& from) {
    if (from.info().does(problem.operation())) from.add_candidates(problem, candidates);
  };
  if (!family.empty()) {
    add(family_named(family));
  } else {
    for (const Family* one : all_families()) add(*one);
  }
  if (!candidates.empty()) return candidates;
  if (problem.is<CombineProblem>()) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("the copy engine cannot combine these tensors (in elements: {}). "
                    "Both need at most {} dimensions, the last of them contiguous and of at most 2^31 "
                    "elements; addresses and other strides must be multiples of 16 bytes. A map supports any "
                    "strides.",
                    nest_text(problem.nest), max_map_rank));
  }
  if (family.empty())
    throw Error(ErrorCode::unsupported, fmt::format("no kernel family can do this {} (in elements: {})",
                                                    problem.operation(), nest_text(problem.nest)));
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("kernels of the family {} cannot do this {} (in elements: {}); leave the family to the "
                  "planner",
                  family, problem.operation(), nest_text(problem.nest)));
}

/// The tuned candidate of the problem, if there is one.
const Candidate* find_tuned(const PlanOptions& options, const Problem& problem,
                            const std::vector<Candidate>& candidates) {
  if (options.tuning == nullptr || candidates.size() == 1) return nullptr;
  const auto tuned =
      options.tuning->find(options.chip.name, shape_class_of(problem, candidates[default_of(candidates)]));
  if (!tuned) return nullptr;
  std::vector<KernelChoice> choices;
  choices.reserve(candidates.size());
  for (const Candidate& candidate : candidates) choices.push_back(candidate.family->choice(candidate));
  const auto found = nearest(choices, tuned->choice);
  return found ? &candidates[*found] : nullptr;
}

Problem problem_of(std::span<const Move> moves, const PlanOptions& options) {
  check_chip(options.chip);
  Problem problem = make_problem(moves);
  problem.sm_count = options.chip.sm_count;
  return problem;
}

KernelPlan plan_candidate(std::vector<Candidate> candidates, Problem problem, const PlanOptions& options) {
  const Candidate* tuned = find_tuned(options, problem, candidates);
  const Chosen chosen = tuned == nullptr
                            ? choose(candidates, problem, options.chip)
                            : Chosen{.candidate = static_cast<std::size_t>(tuned - candidates.data()),
                                     .predicted = predict(*tuned, problem, options.chip)};
  return make_kernel_plan(std::move(candidates[chosen.candidate]), std::move(problem), chosen.predicted,
                          tuned != nullptr);
}

KernelPlan plan_problem(Problem problem, const PlanOptions& options) {
  std::vector<Candidate> candidates = candidates_for(problem, options.family);
  return plan_candidate(std::move(candidates), std::move(problem), options);
}

RaggedPlan with_table(const KernelPlan& plan) {
  std::vector<std::byte> table = ragged_table(Inside::state(plan)->candidate);
  return {plan, std::move(table)};
}

}  // namespace

std::vector<KernelPlan> plan_kernels(const Operation& operation, const PlanOptions& options) {
  if (const auto batch = as_batch(operation, 0, options)) return {batch->kernel};
  return plan_each(operation, options);
}

std::vector<KernelPlan> plan_each(const Operation& operation, const PlanOptions& options) {
  check_operation(operation.moves);
  std::vector<KernelPlan> plans;
  for (const std::span<const Move> moves : kernels_of(operation.moves)) {
    Problem problem = problem_of(moves, options);
    if (!problem.nest.empty()) plans.push_back(plan_problem(std::move(problem), options));
  }
  return plans;
}

KernelPlan plan_tiles(const TileRequest& request) {
  return plan_kernels(operation_of(request), {.chip = request.chip}).front();
}

ShapeClass shape_class(const Move& move, const PlanOptions& options) {
  return class_of_kernel({&move, 1}, options);
}

ShapeClass class_of_kernel(std::span<const Move> moves, const PlanOptions& options) {
  const Problem problem = problem_of(moves, options);
  const std::vector<Candidate> candidates = candidates_for(problem, options.family);
  return shape_class_of(problem, candidates[default_of(candidates)]);
}

std::vector<KernelPlan> plan_candidates(const Move& move, const PlanOptions& options) {
  return candidates_of_kernel({&move, 1}, options);
}

std::vector<KernelPlan> candidates_of_kernel(std::span<const Move> moves, const PlanOptions& options) {
  check_operation(moves);
  const Problem problem = problem_of(moves, options);
  std::vector<KernelPlan> plans;
  if (problem.nest.empty()) return plans;
  plans.push_back(plan_problem(problem, options));
  for (Candidate& candidate : candidates_for(problem, options.family)) {
    if (candidate == Inside::state(plans.front())->candidate) continue;
    const Prediction predicted = predict(candidate, problem, options.chip);
    plans.push_back(make_kernel_plan(std::move(candidate), problem, predicted));
  }
  return plans;
}

std::vector<KernelPlan> other_candidates(const KernelPlan& plan, const Chip& chip) {
  const Problem& problem = Inside::state(plan)->problem;
  std::vector<KernelPlan> plans;
  if (!plan.family().does(problem.operation())) return plans;
  for (Candidate& candidate : candidates_for(problem, {})) {
    const Prediction predicted = predict(candidate, problem, chip);
    KernelPlan other = make_kernel_plan(std::move(candidate), problem, predicted);
    if (other.key() != plan.key()) plans.push_back(std::move(other));
  }
  return plans;
}

RaggedPlan plan_batch(List<Tensor> destinations, List<Tensor> sources, DevicePtr table,
                      const PlanOptions& options) {
  RaggedBatch batch = ragged_batch(destinations, sources, table, options.chip);
  if (batch.problem.nest.empty())
    return with_table(make_kernel_plan(std::move(batch.candidates.front()), std::move(batch.problem)));
  return with_table(plan_candidate(std::move(batch.candidates), std::move(batch.problem), options));
}

RaggedPlan plan_ragged(List<Tensor> destinations, List<Tensor> sources, DevicePtr table, const Chip& chip) {
  return plan_batch(destinations, sources, table, {.chip = chip});
}

BatchCandidates batch_candidates(List<Tensor> destinations, List<Tensor> sources, DevicePtr table,
                                 const PlanOptions& options) {
  BatchCandidates all{.shape_class = {}, .plans = {plan_batch(destinations, sources, table, options)}};
  RaggedBatch batch = ragged_batch(destinations, sources, table, options.chip);
  all.shape_class = shape_class_of(batch.problem, batch.candidates.front());
  if (batch.problem.nest.empty()) return all;
  for (Candidate& candidate : batch.candidates) {
    if (candidate == Inside::state(all.plans.front().kernel)->candidate) continue;
    const Prediction predicted = predict(candidate, batch.problem, options.chip);
    all.plans.push_back(with_table(make_kernel_plan(std::move(candidate), batch.problem, predicted)));
  }
  return all;
}

TMAJIT_END
