#pragma once

#include "spec/fork_guard.hpp"

#include <mutex>
#include <utility>

TMAJIT_BEGIN

/// A value with a mutex that stays usable in a forked child. Functions that use the value must be short, and
/// must not use another such value.
template <class Value>
class ForkSafe {
 public:
  template <class... Arguments>
  explicit ForkSafe(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

  template <class Use>
  decltype(auto) use(Use&& use) {
    const std::lock_guard lock(mutex_);
    return std::forward<Use>(use)(value_);
  }

 private:
  std::mutex mutex_;
  Value value_;
  ForkGuard fork_guard_{[this] { mutex_.lock(); },
                        [this](ForkSide side) { release_after_fork(mutex_, side); }};
};

TMAJIT_END
