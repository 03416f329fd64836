#include "ops/trial.hpp"

#include "spec/log.hpp"

#include <algorithm>
#include <exception>

TMAJIT_BEGIN
namespace {

constexpr double clearly = 0.98;  // of the usual candidate's time
constexpr std::uint32_t most_timed_calls = 100;
constexpr std::uint32_t patience = 64;  // calls that can do nothing for the trial

}  // namespace

Trial::Trial(const ShapeClass& shape_class, const std::vector<KernelChoice>& choices,
             std::uint32_t timed_calls)
    : shape_class_(shape_class),
      timed_calls_(std::clamp(timed_calls, 1U, most_timed_calls)),
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
      const double us = 1e3 * static_cast<double>(*milliseconds);
      candidates_[run.candidate_].samples.push_back({us, us / run.expected_us_});
    } catch (const std::exception& error) {
      drop(run.candidate_, error.what());
    }
    run.abandon();
  }
}

Trial::Sample Trial::Candidate::median() const {
  std::vector<Sample> sorted = samples;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle, {}, &Sample::part);
  return *middle;
}

std::optional<Trial::Verdict> Trial::verdict() const {
  if (!std::ranges::all_of(candidates_, [this](const Candidate& one) { return is_done(one); })) return {};
  if (candidates_[0].dropped) return Verdict{};
  const Sample usual = candidates_[0].median();
  Verdict verdict{.choice = nullptr, .us = usual.us, .part = 1};
  double least = clearly * usual.part;
  for (std::size_t i = 1; i < candidates_.size(); ++i) {
    if (candidates_[i].dropped) continue;
    if (verdict.choice == nullptr) verdict.choice = &candidates_[0].choice;
    const Sample sample = candidates_[i].median();
    if (!(sample.part < least)) continue;
    least = sample.part;
    verdict = {.choice = &candidates_[i].choice, .us = sample.us, .part = sample.part / usual.part};
  }
  return verdict;
}

std::size_t Trial::runs_of(std::size_t candidate) const {
  return static_cast<std::size_t>(std::ranges::count_if(runs_, [candidate](const Run& run) {
    return run.candidate_ == candidate && run.phase_.load(std::memory_order_relaxed) != Run::Phase::idle;
  }));
}

std::optional<std::size_t> Trial::next(const std::vector<bool>& can) {
  std::optional<std::size_t> next;
  std::size_t fewest = timed_calls_;
  bool pending = false;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const std::size_t runs = runs_of(i);
    const std::size_t timed = candidates_[i].samples.size() + runs;
    pending = pending || runs > 0;
    if (!can[i] || candidates_[i].dropped || timed >= fewest) continue;
    fewest = timed;
    next = i;
  }
  // Calls that can do the rest may not come any more.
  if (next || pending || ++fruitless_ < patience) return next;
  for (std::size_t i = candidates_.size(); i-- > 0;) {
    if (!is_done(candidates_[i])) drop(i, "no call that it could do came for long");
  }
  return next;
}

Trial::Run* Trial::begin(std::size_t candidate, double expected_us, DeviceTiming& timing) {
  for (Run& run : runs_) {
    if (run.phase_.load(std::memory_order_acquire) != Run::Phase::idle) continue;
    if (!run.timer_) run.timer_ = timing.timer();
    if (!run.timer_) {
      drop(0, "the device times nothing");
      return nullptr;
    }
    run.candidate_ = candidate;
    run.expected_us_ = expected_us;
    run.phase_.store(Run::Phase::launching, std::memory_order_relaxed);
    return &run;
  }
  return nullptr;
}

TMAJIT_END
