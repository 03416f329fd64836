#include "spec/fork_guard.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include <pthread.h>

TMAJIT_BEGIN

/// All guards of this process. While the process forks, the mutex is held, so that no guard is added or
/// removed.
struct ForkGuards {
  static ForkGuards& all() {
    // Never destroyed: a guarded object may be static, and a thread may fork while the process ends.
    static auto& guards = *new ForkGuards;
    return guards;
  }

  ForkGuards() {
    ::pthread_atfork([] { all().before(); }, [] { all().after(ForkSide::parent); },
                     [] { all().after(ForkSide::child); });
  }

  void before() {
    mutex.lock();
    for (const ForkGuard* guard : guards) guard->before_();
  }
  void after(ForkSide side) {
    for (const ForkGuard* guard : guards) guard->after_(side);
    mutex.unlock();
  }

  std::mutex mutex;
  std::vector<const ForkGuard*> guards;
};

ForkGuard::ForkGuard(std::function<void()> before, std::function<void(ForkSide)> after)
    : before_(std::move(before)), after_(std::move(after)) {
  ForkGuards& all = ForkGuards::all();
  const std::lock_guard lock(all.mutex);
  all.guards.push_back(this);
}

ForkGuard::~ForkGuard() {
  ForkGuards& all = ForkGuards::all();
  const std::lock_guard lock(all.mutex);
  all.guards.erase(std::ranges::find(all.guards, this));
}

TMAJIT_END
