#include "ops/contest.hpp"

#include <tmajit/error.hpp>

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

/// If a candidate takes less time than this, all are timed in a graph, without the launch overhead.
constexpr float short_ms = 0.05F;
constexpr std::uint32_t graph_launches = 50;
constexpr unsigned max_threads = 16;
/// All candidates are timed in each round, so that a temporary slowdown affects them all.
constexpr std::uint32_t rounds = 3;
/// Launches before the rounds. The time of the last one tells which candidates are slow.
constexpr std::uint32_t first_launches = 3;
/// A candidate that takes more than this multiple of the shortest first time is not timed again.
constexpr double slow_ratio = 2;
/// The random difference between the times of single launches.
constexpr float first_time_slack_ms = 0.01F;
/// Candidates that take at most this multiple of the shortest time are timed in `final_rounds` more rounds.
constexpr double near_ratio = 1.03;
constexpr std::uint32_t final_rounds = 12;

/// Measures the times of candidates, in rounds.
class Contest {
 public:
  Contest(DeviceTiming& timing, const std::vector<PreparedLaunch>& launches, std::uint32_t repeats)
      : timing_(timing),
        launches_(launches),
        repeats_per_round_(std::max(repeats / rounds, 1U)),
        times_(launches.size()) {
    std::vector<float> first_times;
    for (const PreparedLaunch& launch : launches_) first_times.push_back(run(launch, first_launches).back());
    const float least = std::ranges::min(first_times);
    // All candidates are timed the same way, so that launch overhead is part of all times or of none.
    in_graph_ = least < short_ms;
    for (std::size_t i = 0; i < first_times.size(); ++i) {
      if (static_cast<double>(first_times[i]) <=
          slow_ratio * static_cast<double>(least + first_time_slack_ms)) {
        compared_.push_back(i);
      } else {
        times_[i].push_back(first_times[i]);
      }
    }
  }

  /// Numbers of the candidates that are still compared.
  [[nodiscard]] const std::vector<std::size_t>& compared() const noexcept { return compared_; }

  void time(std::size_t candidate) {
    const PreparedLaunch& launch = launches_[candidate];
    const std::vector<float> measured = in_graph_
                                            ? timing_.time_in_graph(repeats_per_round_, graph_launches,
                                                                    [&](Stream stream) { launch(stream); })
                                            : run(launch, repeats_per_round_);
    times_[candidate].insert(times_[candidate].end(), measured.begin(), measured.end());
  }

  /// Ends the comparison of candidates that are slower than the fastest beyond the measuring error.
  void drop_slow() {
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t candidate : compared_) least = std::min(least, median_us(candidate));
    std::erase_if(compared_,
                  [&](std::size_t candidate) { return median_us(candidate) > near_ratio * least; });
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
  std::uint32_t repeats_per_round_;
  std::vector<std::vector<float>> times_;  ///< milliseconds, by candidate
  std::vector<std::size_t> compared_;
  bool in_graph_ = false;
};

}  // namespace

void require_gpu(const Runtime& runtime) {
  if (!runtime.device() || runtime.device()->info().ordinal < 0)
    throw Error(ErrorCode::unavailable, "tuning measures on a GPU, and this runtime has none");
}

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
  for (unsigned i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1U, max_threads); ++i) {
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
  const auto time_rounds = [&](std::uint32_t round_count, bool is_final) {
    const std::vector<std::size_t>& compared = contest.compared();
    for (std::size_t n = 0; n < round_count * compared.size(); ++n) {
      const std::size_t candidate = compared[n % compared.size()];
      const auto done =
          is_final ? count : static_cast<std::uint32_t>(n * count / (round_count * compared.size()));
      progress(done, candidate);
      contest.time(candidate);
    }
  };
  time_rounds(rounds, false);
  contest.drop_slow();
  if (contest.compared().size() > 1) time_rounds(final_rounds, true);
  std::vector<double> microseconds;
  for (std::uint32_t i = 0; i < count; ++i) microseconds.push_back(contest.median_us(i));
  return microseconds;
}

TMAJIT_END
