#include "ops/trial.hpp"

#include "spec/log.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>

TMAJIT_BEGIN
namespace {

constexpr double clear_gain = 0.99;  // a winner takes less than this fraction of the default candidate's time
// A candidate that takes longer than this multiple of the fastest one's time, after 1, 2 or more timed calls,
// is not timed any further. The fewer times there are, the less exact they are.
constexpr std::array clearly_slower{1.2, 1.1, 1.05};
constexpr std::uint32_t final_times = 5;  // candidates near the fastest are timed this many times as often
constexpr std::uint32_t max_timed_calls = 100;
// After this many calls that no remaining candidate can run, the trial drops the remaining candidates.
constexpr std::uint32_t max_useless_calls = 64;

}  // namespace

Trial::Trial(const ShapeClass& shape_class, const std::vector<KernelChoice>& choices, const Improve& improve)
    : shape_class_(shape_class),
      timed_calls_(std::clamp(improve.timed_calls, 1U, max_timed_calls)),
      calls_left_(improve.max_calls),
      wanted_samples_(timed_calls_),
      candidates_(choices.size()) {
  for (std::size_t i = 0; i < choices.size(); ++i) candidates_[i].choice = choices[i];
}

void Trial::drop(std::size_t candidate, std::string_view why) {
  candidates_[candidate].dropped = true;
  if (candidate == 0) settle();
  log(LogLevel::warn, "{}: {} is not tried{}: {}", shape_class_.text(), candidates_[candidate].choice.text(),
      candidate == 0 ? ", nor is anything else" : "", why);
}

void Trial::collect() {
  for (Run& run : runs_) {
    if (run.phase_.load(std::memory_order_acquire) != Run::Phase::pending) continue;
    try {
      const std::optional<float> milliseconds = run.timer_->milliseconds();
      if (!milliseconds) continue;
      candidates_[run.candidate_].samples.push_back(1e3 * static_cast<double>(*milliseconds));
    } catch (const std::exception& error) {
      drop(run.candidate_, error.what());
    }
    run.abandon();
  }
}

double Trial::median_of(std::size_t candidate) const {
  std::vector<double> times = candidates_[candidate].samples;
  if (times.empty() || candidates_[candidate].dropped) return std::numeric_limits<double>::infinity();
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

Trial::Verdict Trial::fastest() const {
  const double default_us = median_of(0);
  Verdict verdict{.choice = nullptr, .us = default_us, .relative_time = 1};
  double least = clear_gain * default_us;
  for (std::size_t i = 1; i < candidates_.size(); ++i) {
    if (candidates_[i].dropped) continue;
    if (verdict.choice == nullptr) verdict.choice = &candidates_[0].choice;
    const double us = median_of(i);
    if (!(us < least)) continue;
    least = us;
    verdict = {.choice = &candidates_[i].choice, .us = us, .relative_time = us / default_us};
  }
  return verdict;
}

void Trial::mark_slow() {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates_.size(); ++i) least = std::min(least, median_of(i));
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const std::size_t times = candidates_[i].samples.size();
    candidates_[i].is_slow =
        times > 0 && median_of(i) > least * clearly_slower[std::min(times, clearly_slower.size()) - 1];
  }
}

std::optional<Trial::Verdict> Trial::verdict() {
  if (candidates_[0].dropped) return Verdict{};
  mark_slow();
  const auto all_done = [this] {
    return std::ranges::all_of(candidates_, [this](const Candidate& one) { return is_done(one); });
  };
  const auto is_tried = [](const Candidate& one) { return one.dropped || !one.samples.empty(); };
  const auto is_near = [](const Candidate& one) { return !one.dropped && !one.is_slow; };
  if (std::ranges::all_of(candidates_, is_tried) && std::ranges::count_if(candidates_, is_near) == 1)
    return fastest();
  const bool has_runs = std::ranges::any_of(
      runs_, [](const Run& run) { return run.phase_.load(std::memory_order_relaxed) != Run::Phase::idle; });
  if (calls_left_ == 0 && !has_runs) return fastest();
  if (!all_done()) return {};
  if (!is_final_) {
    is_final_ = true;
    wanted_samples_ = std::size_t{final_times} * timed_calls_;
    if (!all_done()) return {};
  }
  return fastest();
}

std::size_t Trial::runs_of(std::size_t candidate) const {
  return static_cast<std::size_t>(std::ranges::count_if(runs_, [candidate](const Run& run) {
    return run.candidate_ == candidate && run.phase_.load(std::memory_order_relaxed) != Run::Phase::idle;
  }));
}

std::optional<std::size_t> Trial::next(const std::vector<bool>& can_run) {
  if (calls_left_ == 0) return {};
  std::optional<std::size_t> next;
  std::size_t fewest = wanted_samples_;
  bool pending = false;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const std::size_t runs = runs_of(i);
    const std::size_t timed = candidates_[i].samples.size() + runs;
    pending = pending || runs > 0;
    if (!can_run[i] || is_done(candidates_[i]) || timed >= fewest) continue;
    fewest = timed;
    next = i;
  }
  // The program may never again make a call that the remaining candidates can run.
  if (next || pending || ++useless_calls_ < max_useless_calls) return next;
  for (std::size_t i = candidates_.size(); i-- > 0;) {
    if (!is_done(candidates_[i])) drop(i, "for long, no call came that it can run");
  }
  return next;
}

Trial::Run* Trial::begin(std::size_t candidate, DeviceTiming& timing) {
  for (Run& run : runs_) {
    if (run.phase_.load(std::memory_order_acquire) != Run::Phase::idle) continue;
    if (!run.timer_) run.timer_ = timing.timer();
    if (!run.timer_) {
      drop(0, "the device has no timers");
      return nullptr;
    }
    run.candidate_ = candidate;
    run.phase_.store(Run::Phase::launching, std::memory_order_relaxed);
    return &run;
  }
  return nullptr;
}

TMAJIT_END
