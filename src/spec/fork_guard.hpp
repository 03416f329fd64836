#pragma once

#include <tmajit/version.hpp>

#include <functional>
#include <memory>

TMAJIT_BEGIN

/// The two processes in which fork() returns.
enum class ForkSide { parent, child };

/// Keeps an object usable in the child of a fork(). Without a guard, the child could inherit an object that
/// another thread of the parent was changing or had locked. The child has only the thread that called fork(),
/// so no thread would complete the change or release the lock. The guard therefore takes the object's locks
/// before the fork, and releases them afterwards in both processes.
///
/// A guard must be the last member of its object, so that its functions access only live members.
///
/// While a thread holds a lock that `before` takes, it must not do the following, which could deadlock with a
/// fork in another thread:
/// - construct or destroy a guard, which waits until the fork is over;
/// - call a function of the user, which may wait for the thread that forks;
/// - wait for a lock that another guard takes.
class ForkGuard {
 public:
  /// `before` runs in the thread that forks, before the fork; it must take the object's locks. `after` runs
  /// after the fork, once in the parent and once in the child; it must release the locks, for instance by
  /// release_after_fork().
  ForkGuard(std::function<void()> before, std::function<void(ForkSide)> after);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

 private:
  friend struct ForkGuards;  // the list of all guards (fork_guard.cpp)
  std::function<void()> before_;
  std::function<void(ForkSide)> after_;
};

/// Releases a mutex that `before` has locked. In the child it constructs a new mutex in the same place
/// instead of unlocking: glibc's read-write lock knows its writer by a thread id, and the child's thread has
/// another.
template <class Mutex>
void release_after_fork(Mutex& mutex, ForkSide side) {
  if (side == ForkSide::parent) {
    mutex.unlock();
  } else {
    std::construct_at(&mutex);
  }
}

TMAJIT_END
