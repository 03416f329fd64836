#include "ops/trials.hpp"

#include <algorithm>

TMAJIT_BEGIN

std::shared_ptr<Trial> Trials::of_class(const std::shared_ptr<Trial>& fresh) {
  // An evicted trial may be destroyed when this goes out of scope: that calls the device, so after the lock.
  std::shared_ptr<Trial> leaving;
  const std::lock_guard lock(mutex_);
  Kept& kept = kept_[fresh->shape_class()];
  kept.used = ++turn_;
  if (!kept.trial) kept.trial = fresh;
  std::shared_ptr<Trial> found = kept.trial;
  if (kept_.size() > most_kept) {
    const auto oldest = std::ranges::min_element(kept_, {}, [](const auto& one) { return one.second.used; });
    leaving = std::move(oldest->second.trial);
    kept_.erase(oldest);
  }
  return found;
}

TMAJIT_END
