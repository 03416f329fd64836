#include "ops/trials.hpp"

#include <algorithm>

TMAJIT_BEGIN

std::shared_ptr<Trial> Trials::of_class(const std::shared_ptr<Trial>& fresh) {
  // Declared before the lock, so that an evicted trial is destroyed after it: its destruction calls the
  // device.
  std::shared_ptr<Trial> evicted;
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[fresh->shape_class()];
  entry.used = ++turn_;
  if (!entry.trial) entry.trial = fresh;
  std::shared_ptr<Trial> found = entry.trial;
  if (entries_.size() > max_trials) {
    const auto oldest =
        std::ranges::min_element(entries_, {}, [](const auto& one) { return one.second.used; });
    evicted = std::move(oldest->second.trial);
    entries_.erase(oldest);
  }
  return found;
}

TMAJIT_END
