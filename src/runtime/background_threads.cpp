#include "runtime/background_threads.hpp"

#include "spec/fork_guard.hpp"
#include "spec/log.hpp"
#include "spec/process_end.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sys/resource.h>

TMAJIT_BEGIN
namespace {

struct Count {
  std::atomic<int> alive = 0;
  std::atomic<bool> ends = false;              ///< exit handlers run
  std::atomic<bool> main_thread_ends = false;  ///< perhaps with the process
  std::atomic<int> registrations = 0;
  ForkGuard fork_guard{[] {},
                       [this](ForkSide side) {
                         if (side == ForkSide::child) alive = 0;
                       }};
  void leave() {
    if (--alive == 0) alive.notify_all();
  }
  [[nodiscard]] bool process_ends() const noexcept {
    return ends || (main_thread_ends && !main_thread_has_ended());
  }
  void wait_for_all(std::atomic<bool>& cause) {
    cause = true;
    for (int count = alive; count != 0; count = alive) alive.wait(count);
  }
};

Count& the_count() {
  // Never destroyed: a thread may still end while the process does.
  static auto& count = *new Count;
  return count;
}

// Constructed while the library is loaded: a fork during its construction would leave it incomplete in the
// child.
[[maybe_unused]] const Count& count_at_load = []() -> Count& {
  before_main_thread_ends([] { the_count().wait_for_all(the_count().main_thread_ends); });
  return the_count();
}();

/// Blocks signals, so that a new thread of this thread receives none.
class BlockedSignals {
 public:
  BlockedSignals() {
    ::sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  ::sigset_t before_{};
};

void lower_priority() {
  constexpr int lowest = 19;
  (void)::setpriority(PRIO_PROCESS, 0, lowest);  // on Linux, of this thread alone
  (void)::pthread_setname_np(::pthread_self(), "tmajit-compile");
}

}  // namespace

bool BackgroundThreads::process_ends() noexcept {
  return the_count().process_ends();
}

void BackgroundThreads::wait_at_exit() {
  // Once at the first thread's start, then after its first two kernels.
  constexpr int useful = 3;
  std::atomic<int>& registrations = the_count().registrations;
  if (registrations < useful && ++registrations <= useful)
    std::atexit([] { the_count().wait_for_all(the_count().ends); });
}

bool BackgroundThreads::start(std::function<void()> work) {
  Count& count = the_count();
  if (count.registrations == 0) wait_at_exit();
  ++count.alive;
  if (count.process_ends()) {
    count.leave();
    return false;
  }
  try {
    const BlockedSignals blocked;
    std::thread([work = std::move(work)]() mutable {
      lower_priority();
      work();
      work = nullptr;  // the process may end as soon as the thread is not counted
      the_count().leave();
    }).detach();
    return true;
  } catch (const std::system_error& error) {
    count.leave();
    log(LogLevel::warn, "no thread can make kernels in the background: {}", error.what());
    return false;
  }
}

TMAJIT_END
