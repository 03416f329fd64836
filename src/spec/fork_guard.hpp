#pragma once

#include <tmajit/version.hpp>

#include <functional>
#include <memory>

TMAJIT_BEGIN

/// Where a fork went on.
enum class ForkSide { parent, child };

/// Keeps a fork from catching an object in the midst of a change, or with a lock that in the child nobody
/// holds and nobody will give back: a child has no thread but the one that forked.
///
/// As the last member of an object it lives as long as everything that its functions touch. No lock that they
/// take may be held while a guard is made or destroyed, while a callback of the user runs (it may wait for
/// the thread that forks), or while another guard's lock is waited for.
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

/// Releases a lock that was taken before the fork. In the child that is a new one: glibc's read-write lock
/// knows its writer by a thread id that the child's thread does not have.
template <class Mutex>
void release_after_fork(Mutex& mutex, ForkSide side) {
  if (side == ForkSide::parent) {
    mutex.unlock();
  } else {
    std::construct_at(&mutex);
  }
}

TMAJIT_END
