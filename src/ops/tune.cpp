#include "operations/list.hpp"
#include "ops/contest.hpp"
#include "ops/move_plan.hpp"
#include "plan/candidates.hpp"
#include "spec/inside.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <algorithm>

TMAJIT_BEGIN
namespace {

/// The moves of the kernel that writes the most bytes.
std::span<const Move> largest(const Operation& operation) {
  const auto bytes = [](std::span<const Move> moves) {
    std::uint64_t sum = 0;
    for (const Move& move : moves)
      sum += move.destination.view.elements() * size_of(move.destination.view.type);
    return sum;
  };
  return std::ranges::max(kernels_of(operation.moves), {}, bytes);
}

/// The candidate kernels for a plan, without regard to earlier tuned choices. Each candidate for a batch has
/// its own table.
struct Candidates {
  ShapeClass shape_class;
  std::vector<KernelPlan> plans = {};
  std::vector<Buffer> tables = {};

  [[nodiscard]] PreparedLaunch prepare(const Runtime& runtime, std::size_t n) const {
    PreparedLaunch launch = runtime.kernel(plans[n]).prepare(plans[n]);
    if (!tables.empty()) launch.rebind({tables[n].address(), tables[n].address()});
    return launch;
  }
};

Candidates candidates_of(const Runtime& runtime, const PlanState& plan) {
  const PlanOptions untuned{.chip = runtime.chip()};
  if (!plan.is_batch) {
    const std::span<const Move> moves = largest(plan.operation);
    return {.shape_class = class_of_kernel(moves, untuned), .plans = candidates_of_kernel(moves, untuned)};
  }
  const BatchTensors tensors(plan.operation);
  BatchCandidates batch = batch_candidates(tensors.destinations, tensors.sources, unplaced_table, untuned);
  Candidates all{.shape_class = batch.shape_class};
  for (RaggedPlan& one : batch.plans) {
    all.plans.push_back(one.kernel);
    const Buffer& table = all.tables.emplace_back(runtime.device(), one.table.size());
    runtime.device()->memory().copy_in(table.address(), one.table, nullptr);
  }
  runtime.device()->streams().synchronize(nullptr);
  return all;
}

}  // namespace

TuneReport tune(const Runtime& runtime, const Plan& plan, const TuneOptions& options) {
  require_gpu(runtime);
  TuneReport report;
  if (plan.plans().empty()) return report;
  const Candidates candidates = candidates_of(runtime, *Inside::state(plan));
  report.shape_class = candidates.shape_class;
  const Contestants contestants =
      prepare_all(candidates.plans.size(), [&](std::size_t n) { return candidates.prepare(runtime, n); });
  for (const auto& [number, why] : contestants.left_out)
    report.left_out.push_back({.choice = candidates.plans[number].choice(), .why = why});
  const auto plan_of = [&](std::size_t launch) -> const KernelPlan& {
    return candidates.plans[contestants.numbers[launch]];
  };
  const auto count = static_cast<std::uint32_t>(contestants.launches.size());
  const std::vector<double> microseconds =
      contest_us(runtime.device()->timing(), contestants.launches, options.repeats,
                 [&](std::uint32_t done, std::size_t launch) {
                   if (options.progress) options.progress(done, count, plan_of(launch).choice().text());
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
