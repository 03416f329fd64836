#include "ops/move_plan.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <numeric>
#include <optional>
#include <thread>

TMAJIT_BEGIN
namespace {

constexpr float short_ms = 0.05F;    // what takes less is timed in a graph: launches would hide it
constexpr std::uint32_t nodes = 50;  // of such a graph
constexpr unsigned most_threads = 16;
constexpr std::uint32_t rounds = 3;  // what slows the chip for a while then slows no candidate alone

void measure(Device& device, std::uint32_t repeats, const PlannedMove& planned, std::vector<float>& times) {
  const auto run = [&](std::uint32_t count) {
    return device.time(nullptr, count, [&] { planned.launch(nullptr); });
  };
  const std::uint32_t count = std::max(repeats / rounds, 1U);
  const std::vector<float> measured =
      run(2).back() >= short_ms
          ? run(count)
          : device.time_in_graph(count, nodes, [&](Stream stream) { planned.launch(stream); });
  times.insert(times.end(), measured.begin(), measured.end());
}

/// Each candidate as a plan: compiled by as many threads as there are, since that takes longer than all the
/// rest.
std::vector<PlannedMove> plan_all(Runtime& runtime, const MoveProblem& problem,
                                  const std::vector<MoveCandidate>& candidates) {
  std::vector<std::optional<PlannedMove>> plans(candidates.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < plans.size(); n = next++) {
      plans[n].emplace(planned_with(runtime, problem, candidates[n]));
    }
  };
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1U, most_threads); ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  for (std::future<void>& worker : workers) worker.wait();
  for (std::future<void>& worker : workers) worker.get();
  std::vector<PlannedMove> all;
  for (std::optional<PlannedMove>& plan : plans) all.push_back(std::move(*plan));
  return all;
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
  const std::vector<PlannedMove> planned = plan_all(*this, step.problem, candidates);
  for (const PlannedMove& move : planned) move.launch(nullptr);
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
