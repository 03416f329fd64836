/// Host threads that run a launch's clusters.
#include "sim/cta/cta.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <random>
#include <thread>

TMAJIT_BEGIN
namespace sim {
namespace {

/// A host thread begins more clusters after this many rounds of turns in which no cluster has ended.
constexpr std::uint64_t rounds_before_growth = 64;

/// A host thread yields to the others after this many rounds in which no cluster of its own has ended: these
/// may spin for a cluster of another host thread that waits for a core. Most rounds only wait at a barrier.
constexpr std::uint64_t rounds_before_yield = 8;

/// Number of clusters that a host thread runs at a time in mode random, if the chip holds that many.
constexpr std::uint64_t random_clusters = 4;

/// Starts a thread that calls SimOptions::progress every 200 ms until the result is destroyed.
std::jthread watch(const Launch& launch, std::uint64_t ctas) {
  const auto& progress = launch.options.progress;
  if (!progress) return {};
  return std::jthread([&launch, &progress, ctas](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; })) {
      if (stop.stop_requested()) return;
      progress({launch.thread_instructions, launch.ctas_done, ctas});
    }
  });
}

/// The clusters that one host thread runs, one round of each in turn. As long as clusters end soon, the
/// worker runs one at a time; in mode random it runs several, and draws which takes a turn. A cluster that
/// does not end soon may spin for values that later clusters write, as at a grid barrier. So after
/// rounds_before_growth rounds the worker doubles the number of running clusters, up to the number that the
/// chip holds at once.
class Worker {
 public:
  Worker(Launch& launch, std::uint64_t clusters, std::uint64_t max_running, bool shares)
      : launch_(launch),
        clusters_(clusters),
        shares_(shares),
        max_running_(std::max<std::uint64_t>(max_running, 1)),
        random_turns_(launch.options.mode == SimOptions::Mode::random),
        min_running_(random_turns_ ? std::min(max_running_, random_clusters) : 1),
        target_(launch.shape.cooperative ? max_running_ : min_running_),
        random_(static_cast<std::uint32_t>(launch.options.seed)) {}

  void run() {
    while (!launch_.stopped) {
      while (running_.size() < target_ && begin()) {
      }
      if (running_.empty()) return;
      const auto takes_turn = [&] { return !random_turns_ || random_() % 2 == 0; };
      if (std::erase_if(running_, [&](auto& cluster) { return takes_turn() && run_round(cluster); }) != 0) {
        rounds_ = 0;
        if (!launch_.shape.cooperative) target_ = std::max<std::uint64_t>(running_.size(), min_running_);
      } else {
        if (++rounds_ % rounds_before_growth == 0) target_ = std::min(max_running_, 2 * target_);
        if (shares_ && rounds_ % rounds_before_yield == 0) std::this_thread::yield();
      }
    }
    // The launch has stopped: one more step() ends each running cluster.
    for (auto& cluster : running_) (void)cluster->step();
  }

 private:
  /// Begins the next cluster of the launch. Returns false if all have begun.
  bool begin() {
    const std::uint64_t n = launch_.next_cluster++;
    if (n >= clusters_) return false;
    if (idle_.empty()) idle_.push_back(std::make_unique<Cluster>(launch_));
    running_.push_back(std::move(idle_.back()));
    idle_.pop_back();
    running_.back()->begin(n);
    return true;
  }
  /// Runs a round of the cluster. Returns true if the cluster has ended; it is then in `idle_`.
  bool run_round(std::unique_ptr<Cluster>& cluster) {
    if (cluster->step()) return false;
    launch_.ctas_done += cluster->size();
    idle_.push_back(std::move(cluster));
    return true;
  }

  Launch& launch_;
  const std::uint64_t clusters_;
  const bool shares_;                ///< other host threads run clusters, too
  const std::uint64_t max_running_;  ///< limit of clusters that run at a time
  const bool random_turns_;          ///< mode random: draws which cluster takes a turn
  const std::uint64_t min_running_;  ///< clusters to run at a time while they end soon
  std::uint64_t target_;             ///< clusters to run at a time now
  std::uint64_t rounds_ = 0;         ///< since a cluster last ended
  std::vector<std::unique_ptr<Cluster>> running_;
  std::vector<std::unique_ptr<Cluster>> idle_;
  std::minstd_rand random_;
};

}  // namespace

void run(Launch& launch, std::uint32_t threads) {
  const std::uint64_t clusters = volume(launch.shape.grid) / volume(launch.cluster);
  const std::uint64_t at_once = std::max<std::uint64_t>(launch.ctas_at_once / volume(launch.cluster), 1);
  const std::uint64_t count = std::clamp<std::uint64_t>(threads, 1, std::max<std::uint64_t>(clusters, 1));
  if (launch.options.races) launch.order = std::make_shared<LaunchOrder>(launch.all_regions());
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      Worker(launch, clusters, (std::min(at_once, clusters) + count - 1) / count, count > 1).run();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      launch.stopped = true;
    }
  };
  const std::jthread watcher = watch(launch, clusters * volume(launch.cluster));
  std::vector<std::jthread> workers;
  for (std::uint64_t i = 1; i < count; ++i) workers.emplace_back(work);
  work();
  workers.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sim
TMAJIT_END
