#include "ops/contest.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

TMAJIT_BEGIN
namespace {

constexpr float short_ms = 0.05F;    // shorter kernels are timed in a graph, without the launch overhead
constexpr std::uint32_t nodes = 50;  // launches in the graph
constexpr unsigned most_threads = 16;
constexpr std::uint32_t rounds = 3;         // several, so that a temporary slowdown affects all candidates
constexpr double hopeless = 2;              // candidates slower than this times the fastest are timed once
constexpr float look_slack_ms = 0.01F;      // by how much the times of single launches may differ by chance
constexpr double near_fastest = 1.03;       // candidates within this times the fastest run more often
constexpr std::uint32_t final_rounds = 12;  // further rounds of the candidates near the fastest

/// Measures the times of candidates, in rounds.
class Contest {
 public:
  Contest(DeviceTiming& timing, const std::vector<PreparedLaunch>& launches, std::uint32_t repeats)
      : timing_(timing),
        launches_(launches),
        count_(std::max(repeats / rounds, 1U)),
        times_(launches.size()) {
    std::vector<float> first_times;
    for (const PreparedLaunch& launch : launches_) first_times.push_back(run(launch, 3).back());
    const float least = std::ranges::min(first_times);
    // All candidates are timed the same way, so that launch overhead is part of all times or of none.
    in_graph_ = least < short_ms;
    for (std::size_t i = 0; i < first_times.size(); ++i) {
      if (static_cast<double>(first_times[i]) <= hopeless * static_cast<double>(least + look_slack_ms)) {
        racing_.push_back(i);
      } else {
        times_[i].push_back(first_times[i]);
      }
    }
  }

  /// Numbers of the candidates that are still compared.
  [[nodiscard]] const std::vector<std::size_t>& racing() const noexcept { return racing_; }

  void time(std::size_t candidate) {
    const PreparedLaunch& launch = launches_[candidate];
    const std::vector<float> measured =
        in_graph_ ? timing_.time_in_graph(count_, nodes, [&](Stream stream) { launch(stream); })
                  : run(launch, count_);
    times_[candidate].insert(times_[candidate].end(), measured.begin(), measured.end());
  }

  /// Ends the comparison of candidates that are slower than the fastest beyond the measuring error.
  void keep_near() {
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t one : racing_) least = std::min(least, median_us(one));
    std::erase_if(racing_, [&](std::size_t one) { return median_us(one) > near_fastest * least; });
  }

  [[nodiscard]] double median_us(std::size_t candidate) {
    std::vector<float>& times = times_[candidate];
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return 1e3 * static_cast<double>(*middle);
  }

 private:
  [[nodiscard]] std::vector<float> run(const PreparedLaunch& launch, std::uint32_t count) {
    return timing_.time(nullptr, count, [&] { launch(nullptr); });
  }

  DeviceTiming& timing_;
  const std::vector<PreparedLaunch>& launches_;
  std::uint32_t count_;
  std::vector<std::vector<float>> times_;
  std::vector<std::size_t> racing_;
  bool in_graph_ = false;
};

}  // namespace

Contestants prepare_all(std::size_t count, const std::function<PreparedLaunch(std::size_t)>& prepare) {
  std::vector<std::optional<PreparedLaunch>> launches(count);
  std::vector<std::exception_ptr> errors(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < count; n = next++) {
      try {
        launches[n].emplace(prepare(n));
      } catch (...) {
        errors[n] = std::current_exception();
      }
    }
  };
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1U, most_threads); ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  for (std::future<void>& worker : workers) worker.get();
  Contestants all;
  for (std::size_t n = 0; n < count; ++n) {
    if (launches[n]) {
      all.numbers.push_back(n);
      all.launches.push_back(std::move(*launches[n]));
      continue;
    }
    try {
      std::rethrow_exception(errors[n]);
    } catch (const std::exception& error) {
      all.left_out.emplace_back(n, error.what());
    }
  }
  if (all.launches.empty()) std::rethrow_exception(errors.front());
  return all;
}

std::vector<double> contest_us(DeviceTiming& timing, const std::vector<PreparedLaunch>& launches,
                               std::uint32_t repeats, const ContestProgress& progress) {
  const auto count = static_cast<std::uint32_t>(launches.size());
  for (const PreparedLaunch& launch : launches) launch(nullptr);
  Contest contest(timing, launches, repeats);
  const auto race = [&](std::uint32_t times, bool is_final) {
    const std::vector<std::size_t>& racing = contest.racing();
    for (std::size_t n = 0; n < times * racing.size(); ++n) {
      const std::size_t one = racing[n % racing.size()];
      const auto done = is_final ? count : static_cast<std::uint32_t>(n * count / (times * racing.size()));
      progress(done, one);
      contest.time(one);
    }
  };
  race(rounds, false);
  contest.keep_near();
  if (contest.racing().size() > 1) race(final_rounds, true);
  std::vector<double> microseconds;
  for (std::uint32_t i = 0; i < count; ++i) microseconds.push_back(contest.median_us(i));
  return microseconds;
}

TMAJIT_END
