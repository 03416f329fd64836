#pragma once

#include <tmajit/version.hpp>

#include <functional>
#include <memory>

TMAJIT_BEGIN

/// The process in which a fork has returned.
enum class ForkSide { parent, child };

/// Keeps a fork from copying an object in the midst of a change, or with a lock that no thread of the child
/// will release: the child's only thread is the one that forked.
///
/// As the last member of an object it lives as long as everything that its functions touch. No thread may
/// hold a lock that these functions take while it makes or destroys a guard, while it runs a callback of the
/// user (which may wait for the thread that forks), or while it waits for another guard's lock.
class ForkGuard {
 public:
  /// `before` runs in the thread that forks, before it does, and takes the object's locks; `after` runs in
  /// the same thread on both sides and releases them (release_after_fork).
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
