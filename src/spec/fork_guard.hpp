#pragma once

#include <tmajit/version.hpp>

#include <functional>
#include <memory>

TMAJIT_BEGIN

/// The process in which a fork has returned.
enum class ForkSide { parent, child };

/// Keeps a fork from copying an object during a change, or with a lock that no thread of the child would
/// release: the child's only thread is the one that forked.
///
/// The guard must be the last member of its object, so that its functions access only live members. A thread
/// that holds a lock that `before` takes must not make or destroy a guard, run a user's callback (which may
/// wait for the thread that forks), or wait for another guard's lock.
class ForkGuard {
 public:
  /// `before` runs before the fork in the thread that forks, and takes the object's locks. `after` runs in
  /// that thread on both sides, and releases them (release_after_fork).
  ForkGuard(std::function<void()> before, std::function<void(ForkSide)> after);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

 private:
  friend struct ForkGuards;
  std::function<void()> before_;
  std::function<void(ForkSide)> after_;
};

/// Releases a lock that was taken before the fork. The child makes a new lock instead: glibc's read-write
/// lock knows its writer by a thread id that the child's thread does not have.
template <class Mutex>
void release_after_fork(Mutex& mutex, ForkSide side) {
  if (side == ForkSide::parent) {
    mutex.unlock();
  } else {
    std::construct_at(&mutex);
  }
}

TMAJIT_END
