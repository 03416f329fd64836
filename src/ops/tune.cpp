#include "plan/candidates.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <thread>

TMAJIT_BEGIN
namespace {

constexpr float short_ms = 0.05F;    // what takes less is timed in a graph: launches would hide it
constexpr std::uint32_t nodes = 50;  // of such a graph
constexpr unsigned most_threads = 16;
constexpr std::uint32_t rounds = 3;  // what slows the chip for a while then slows no candidate alone

void measure(DeviceTiming& timing, std::uint32_t repeats, const PreparedLaunch& launch,
             std::vector<float>& times) {
  const auto run = [&](std::uint32_t count) { return timing.time(nullptr, count, [&] { launch(nullptr); }); };
  const std::uint32_t count = std::max(repeats / rounds, 1U);
  const std::vector<float> measured =
      run(2).back() >= short_ms ? run(count)
                                : timing.time_in_graph(count, nodes, [&](Stream stream) { launch(stream); });
  times.insert(times.end(), measured.begin(), measured.end());
}

/// Each candidate, ready to be launched: compiled by as many threads as there are, since that takes longer
/// than all the rest.
std::vector<PreparedLaunch> prepare_all(const Runtime& runtime, const std::vector<KernelPlan>& candidates) {
  std::vector<std::optional<PreparedLaunch>> launches(candidates.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < launches.size(); n = next++) {
      launches[n].emplace(runtime.kernel(candidates[n]).prepare(candidates[n]));
    }
  };
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1U, most_threads); ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  for (std::future<void>& worker : workers) worker.wait();
  for (std::future<void>& worker : workers) worker.get();
  std::vector<PreparedLaunch> all;
  for (std::optional<PreparedLaunch>& launch : launches) all.push_back(std::move(*launch));
  return all;
}

double median_us(std::vector<float>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return 1e3 * static_cast<double>(*middle);
}

/// The move of the largest step.
const Move& largest(const Operation& operation) {
  const auto bytes = [](const Move& move) {
    return move.destination.view.elements() * size_of(move.destination.view.type);
  };
  return *std::ranges::max_element(operation.moves, {}, bytes);
}

}  // namespace

TuneReport tune(const Runtime& runtime, const MovePlan& plan, const TuneOptions& options) {
  if (!runtime.device() || runtime.device()->info().ordinal < 0) {
    throw Error(ErrorCode::unavailable, "tuning measures on a GPU, and this runtime has none");
  }
  TuneReport report;
  if (plan.plans().empty()) return report;
  const Move& move = largest(plan.operation());
  const PlanOptions untuned{.chip = runtime.chip()};
  const std::vector<KernelPlan> candidates = plan_candidates(move, untuned);
  report.shape_class = shape_class(move, untuned);
  const auto count = static_cast<std::uint32_t>(candidates.size());
  const std::vector<PreparedLaunch> launches = prepare_all(runtime, candidates);
  for (const PreparedLaunch& launch : launches) launch(nullptr);
  std::vector<std::vector<float>> times(count);
  for (std::uint32_t n = 0; n < rounds * count; ++n) {
    if (options.progress) options.progress(n / rounds, count, candidates[n % count].choice().text());
    measure(runtime.device()->timing(), options.repeats, launches[n % count], times[n % count]);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    report.candidates.push_back({.choice = candidates[i].choice(),
                                 .predicted_us = candidates[i].predicted_us(),
                                 .microseconds = median_us(times[i])});
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
