#include "ops/contest.hpp"
#include "plan/candidates.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <algorithm>

TMAJIT_BEGIN
namespace {

/// The move of the largest step.
const Move& largest(const Operation& operation) {
  const auto bytes = [](const Move& move) {
    return move.destination.view.elements() * size_of(move.destination.view.type);
  };
  return *std::ranges::max_element(operation.moves, {}, bytes);
}

}  // namespace

TuneReport tune(const Runtime& runtime, const Plan& plan, const TuneOptions& options) {
  if (!runtime.device() || runtime.device()->info().ordinal < 0) {
    throw Error(ErrorCode::unavailable, "tuning measures on a GPU, and this runtime has none");
  }
  TuneReport report;
  if (plan.plans().empty()) return report;
  if (plan.operation().one_launch) {
    throw Error(ErrorCode::unsupported,
                "a batch of copies has one kernel: there is nothing to choose; tune copies by themselves");
  }
  const Move& move = largest(plan.operation());
  const PlanOptions untuned{.chip = runtime.chip()};
  const std::vector<KernelPlan> candidates = plan_candidates(move, untuned);
  report.shape_class = shape_class(move, untuned);
  const Contestants contestants = prepare_all(
      candidates.size(), [&](std::size_t n) { return runtime.kernel(candidates[n]).prepare(candidates[n]); });
  for (const auto& [number, why] : contestants.left_out)
    report.left_out.push_back({.choice = candidates[number].choice(), .why = why});
  const auto plan_of = [&](std::size_t launch) -> const KernelPlan& {
    return candidates[contestants.numbers[launch]];
  };
  const auto count = static_cast<std::uint32_t>(contestants.launches.size());
  const std::vector<double> microseconds =
      contest_us(runtime.device()->timing(), contestants.launches, options.repeats,
                 [&](std::uint32_t done, std::size_t one) {
                   if (options.progress) options.progress(done, count, plan_of(one).choice().text());
                 });
  for (std::uint32_t i = 0; i < count; ++i) {
    report.candidates.push_back({.choice = plan_of(i).choice(),
                                 .predicted_us = plan_of(i).predicted_us(),
                                 .microseconds = microseconds[i]});
  }
  std::ranges::stable_sort(report.candidates, {}, &TuneReport::Candidate::microseconds);
  if (options.store) {
    const TuneReport::Candidate& winner = report.candidates.front();
    remember(runtime, {.chip = runtime.chip().name,
                       .shape_class = report.shape_class,
                       .choice = winner.choice,
                       .microseconds = winner.microseconds});
  }
  return report;
}

TMAJIT_END
