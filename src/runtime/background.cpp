#include "runtime/background.hpp"

#include "runtime/background_threads.hpp"
#include "spec/fork_guard.hpp"
#include "spec/log.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace {

void tell(const std::vector<Background::Listener>& listeners, const BackgroundResult& result) {
  for (const Background::Listener& listener : listeners) listener.tell(result);
}

}  // namespace

struct Background::State {
  /// A kernel to make.
  struct Job {
    std::uint64_t hash;
    KernelOrigin origin;
    MadeBy made_by;           ///< of the first request
    bool is_dropped = false;  ///< its listeners were cancelled before a thread began to make it
    std::vector<Listener> listeners;

    [[nodiscard]] KernelRequest request() const {
      KernelRequest request = origin.request();
      request.made_by = made_by;
      return request;
    }
    [[nodiscard]] bool is_cancelled() const {
      return std::ranges::all_of(listeners,
                                 [](const Listener& one) { return one.cancelled && *one.cancelled; });
    }
  };
  using Jobs = std::deque<std::shared_ptr<Job>>;

  State(std::uint32_t most_threads, Make maker) : max_threads(most_threads), make(std::move(maker)) {}

  /// The waiting or running job of a kernel; null if there is none.
  Job* find(std::uint64_t hash, const KernelRequest& request) {
    for (const Jobs* const jobs : {&waiting, &running}) {
      for (const std::shared_ptr<Job>& job : *jobs)
        if (job->hash == hash && !job->is_dropped && job->origin == request) return job.get();
    }
    return nullptr;
  }

  /// The number of threads to start, which the caller holding the lock has to start after releasing it.
  std::uint32_t reserve_threads() {
    const std::size_t useful = std::min<std::size_t>(max_threads, running.size() + waiting.size());
    const std::uint32_t more = useful > threads ? static_cast<std::uint32_t>(useful) - threads : 0;
    threads += more;
    return more;
  }

  /// The next job. Null if the thread is to end.
  std::shared_ptr<Job> begin_job() {
    const std::lock_guard lock(mutex);
    if (waiting.empty() || BackgroundThreads::process_ends()) {
      --threads;
      return nullptr;
    }
    running.push_back(std::move(waiting.front()));
    waiting.pop_front();
    running.back()->is_dropped = running.back()->is_cancelled();
    return running.back();
  }

  /// The job's listeners from number `told` on. Ends the job if there are none: a child that is forked before
  /// makes the kernel again.
  std::vector<Listener> next_listeners(const std::shared_ptr<Job>& job, std::size_t told,
                                       const BackgroundResult& result) {
    const std::lock_guard lock(mutex);
    std::vector<Listener> next(job->listeners.begin() + static_cast<std::ptrdiff_t>(told),
                               job->listeners.end());
    if (!next.empty()) return next;
    std::erase(running, job);
    if (!result.error.empty()) failures.insert(job->hash);
    return next;
  }

  BackgroundResult run(const Job& job) const {
    try {
      return {.kernel = make(job.request()), .error = {}};
    } catch (const std::exception& error) {
      log(job.made_by == MadeBy::prefetch ? LogLevel::info : LogLevel::warn,
          "a kernel could not be made in the background: {}", error.what());
      return {.kernel = std::nullopt, .error = error.what()};
    }
  }

  static void work(const std::shared_ptr<State>& state) {
    while (const std::shared_ptr<Job> job = state->begin_job()) {
      const BackgroundResult result = job->is_dropped ? BackgroundResult{} : state->run(*job);
      BackgroundThreads::wait_at_exit();  // after the exit handlers that making a kernel has registered
      std::size_t told = 0;
      for (std::vector<Listener> next = state->next_listeners(job, told, result); !next.empty();
           next = state->next_listeners(job, told, result)) {
        tell(next, result);
        told += next.size();
      }
    }
  }

  static void start(const std::shared_ptr<State>& state, std::uint32_t count) {
    for (; count > 0; --count) {
      if (BackgroundThreads::start([state] { work(state); })) continue;
      const std::lock_guard lock(state->mutex);
      state->threads -= count;
      return;
    }
  }

  Jobs drop() {
    const std::lock_guard lock(mutex);
    return std::exchange(waiting, {});
  }

  void after_fork(ForkSide side) {
    if (side == ForkSide::child) {  // a child has none of its parent's threads
      waiting.insert(waiting.begin(), running.begin(), running.end());
      running.clear();
      threads = 0;
    }
    release_after_fork(mutex, side);
  }

  std::mutex mutex;
  Jobs waiting;
  Jobs running;
  std::unordered_set<std::uint64_t> failures;  ///< hashes of kernels that could not be made
  std::uint32_t threads = 0;                   ///< threads that were started and have not ended
  std::uint32_t max_threads;
  const Make make;
  ForkGuard fork_guard{[this] { mutex.lock(); }, [this](ForkSide side) { after_fork(side); }};
};

Background::Background(std::uint32_t threads, Make make)
    : state_(std::make_shared<State>(threads, std::move(make))) {}

Background::~Background() {
  const State::Jobs dropped = state_->drop();
  for (const std::shared_ptr<State::Job>& job : dropped) tell(job->listeners, {});
}

bool Background::improve(const KernelRequest& request, Listener listener) {
  const std::uint64_t hash = request.hash();
  std::uint32_t more = 0;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->max_threads == 0 || state_->failures.contains(hash)) return false;
    if (State::Job* const job = state_->find(hash, request)) {
      job->listeners.push_back(std::move(listener));
      return true;
    }
    State::Jobs& waiting = state_->waiting;
    const auto first_prefetch = std::ranges::find(waiting, MadeBy::prefetch, &State::Job::made_by);
    if (first_prefetch - waiting.begin() >= static_cast<std::ptrdiff_t>(max_waiting)) return false;
    auto job = std::make_shared<State::Job>(State::Job{
        .hash = hash, .origin = KernelOrigin(request), .made_by = request.made_by, .listeners = {}});
    job->listeners.push_back(std::move(listener));
    waiting.insert(first_prefetch, std::move(job));
    more = state_->reserve_threads();
  }
  State::start(state_, more);
  return true;
}

void Background::prefetch(const KernelRequest& request, Listener listener) {
  const std::uint64_t hash = request.hash();
  const std::lock_guard lock(state_->mutex);
  if (State::Job* const job = state_->find(hash, request))
    return job->listeners.push_back(std::move(listener));
  auto job = std::make_shared<State::Job>(
      State::Job{.hash = hash, .origin = KernelOrigin(request), .made_by = request.made_by, .listeners = {}});
  job->listeners.push_back(std::move(listener));
  state_->waiting.push_back(std::move(job));
}

void Background::start(std::uint32_t threads) {
  std::uint32_t more = 0;
  {
    const std::lock_guard lock(state_->mutex);
    state_->max_threads = std::max({state_->max_threads, threads, 1U});
    more = state_->reserve_threads();
  }
  State::start(state_, more);
}

TMAJIT_END
