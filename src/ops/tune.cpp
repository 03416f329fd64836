#include "ops/move_plan.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <numeric>

TMAJIT_BEGIN
namespace {

constexpr float short_ms = 0.05F;    // of launches, whose times differ most, more are measured
constexpr std::uint32_t more = 8;    // times as many
constexpr std::uint32_t rounds = 3;  // what slows the chip for a while then slows no candidate alone

void measure(Device& device, std::uint32_t repeats, const PlannedMove& planned, std::vector<float>& times) {
  const auto run = [&](std::uint32_t count) {
    return device.time(nullptr, count, [&] { planned.launch(nullptr); });
  };
  const std::uint32_t factor = run(2).back() < short_ms ? more : 1;
  const std::vector<float> measured = run(std::max(repeats / rounds, 1U) * factor);
  times.insert(times.end(), measured.begin(), measured.end());
}

double median_us(std::vector<float>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return 1e3 * static_cast<double>(*middle);
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
  const auto count = static_cast<std::uint32_t>(candidates.size());
  std::vector<PlannedMove> planned;
  for (const MoveCandidate& candidate : candidates) {
    planned.push_back(planned_with(*this, step.problem, candidate));
    planned.back().launch(nullptr);
  }
  std::vector<std::vector<float>> times(count);
  for (std::uint32_t n = 0; n < rounds * count; ++n) {
    if (options.progress) options.progress(n / rounds, count, candidates[n % count].kernel.choice());
    measure(*device(), options.repeats, planned[n % count], times[n % count]);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    report.candidates.push_back({.choice = candidates[i].kernel.choice(),
                                 .predicted_us = predict_us(candidates[i], step.problem, chip),
                                 .microseconds = median_us(times[i])});
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
