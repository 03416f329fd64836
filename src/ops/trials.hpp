#pragma once

#include "ops/trial.hpp"
#include "spec/fork_guard.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

TMAJIT_BEGIN

/// The trials of a runtime, one for each shape. Beyond `max_trials` the least recently used trial is
/// evicted: its plans continue with it, and later plans of its shape begin a new trial. Thread-safe.
class Trials {
 public:
  static constexpr std::size_t max_trials = 256;

  Trials() = default;
  /// The cached trial of the class of `fresh`; if there is none, `fresh`, which is then cached.
  [[nodiscard]] std::shared_ptr<Trial> of_class(const std::shared_ptr<Trial>& fresh);

 private:
  struct Entry {
    std::shared_ptr<Trial> trial;
    std::uint64_t used = 0;
  };
  std::mutex mutex_;
  std::map<ShapeClass, Entry> entries_;
  std::uint64_t turn_ = 0;

  ForkGuard fork_guard_{[this] { mutex_.lock(); },
                        [this](ForkSide side) { release_after_fork(mutex_, side); }};
};

TMAJIT_END
