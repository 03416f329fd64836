#include "ops/move_plan.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <numeric>

TMAJIT_BEGIN
namespace {

double median_us(Device& device, std::uint32_t repeats, const PlannedMove& planned) {
  constexpr std::uint32_t warm_ups = 3;
  for (std::uint32_t i = 0; i < warm_ups; ++i) planned.launch(nullptr);
  std::vector<float> times = device.time(nullptr, std::max(repeats, 1U), [&] { planned.launch(nullptr); });
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return 1e3 * static_cast<double>(times[times.size() / 2]);
}

const PlannedMove& largest(const std::vector<PlannedMove>& planned) {
  const auto bytes = [](const PlannedMove& move) {
    return move.problem.bytes_read() + move.problem.bytes_written();
  };
  return *std::ranges::max_element(planned, {}, bytes);
}

}  // namespace

TuneReport Runtime::tune(const MovePlan& plan, const TuneOptions& options) {
  if (!device() || device()->info().ordinal < 0) {
    throw Error(ErrorCode::unavailable, "tuning measures on a GPU, and this runtime has none");
  }
  TuneReport report;
  if (plan.state_->planned.empty()) return report;
  const PlannedMove& step = largest(plan.state_->planned);
  const std::vector<MoveCandidate> candidates = move_candidates(step.problem);
  const Chip chip = planning_chip(*this);
  report.shape_class = shape_class(step.problem, candidates.front().kernel);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string choice = candidates[i].kernel.choice();
    if (options.progress) {
      options.progress(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(candidates.size()), choice);
    }
    const PlannedMove planned = planned_with(*this, step.problem, candidates[i]);
    report.candidates.push_back({.choice = choice,
                                 .predicted_us = predict_us(candidates[i], step.problem, chip),
                                 .microseconds = median_us(*device(), options.repeats, planned)});
  }
  std::ranges::stable_sort(report.candidates, {}, &TuneReport::Candidate::microseconds);
  if (options.store) {
    const TuneReport::Candidate& winner = report.candidates.front();
    remember({.chip = device()->info().name,
              .shape_class = report.shape_class,
              .choice = winner.choice,
              .microseconds = winner.microseconds,
              .version = TMAJIT_VERSION_STRING});
  }
  return report;
}

TMAJIT_END
