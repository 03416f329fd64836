#include "sim/races/clock.hpp"

#include "sim/warp/warp.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {

void Clock::learn(Agent agent, std::uint32_t time) {
  if (agent >= times_.size()) times_.resize(agent + 1U);
  times_[agent] = std::max(times_[agent], time);
}

void Clock::learn(Agent warp, Mask of, Mask existing, std::uint32_t time) {
  if (of == existing) {
    learn(warp, time);
    if (!lanes_.empty()) normalise();
    return;
  }
  auto* entry = const_cast<Lanes*>(find(warp));
  if (entry == nullptr) {
    entry = &lanes_.emplace_back(Lanes{warp, {}});
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      entry->times[lane] = (existing >> lane & 1) != 0 ? time_of(warp) : no_thread;
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if ((of >> lane & 1) != 0) entry->times[lane] = std::max(entry->times[lane], time);
  }
  normalise();
}

void Clock::join(const Clock& other) {
  if (other.times_.size() > times_.size()) times_.resize(other.times_.size());
  for (std::size_t i = 0; i < other.times_.size(); ++i) times_[i] = std::max(times_[i], other.times_[i]);
  if (lanes_.empty() && other.lanes_.empty()) return;
  for (const Lanes& theirs : other.lanes_) {
    auto* mine = const_cast<Lanes*>(find(theirs.warp));
    if (mine == nullptr) {
      lanes_.push_back(theirs);
    } else {
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        mine->times[lane] = std::max(mine->times[lane], theirs.times[lane]);
    }
  }
  normalise();
}

/// Raises the time of each lane to the time of all lanes, and drops the warps whose lanes all have one time.
void Clock::normalise() {
  std::erase_if(lanes_, [&](Lanes& entry) {
    const std::uint32_t low = std::max(time_of(entry.warp), *std::ranges::min_element(entry.times));
    learn(entry.warp, low);
    bool alike = true;
    for (std::uint32_t& time : entry.times) {
      time = std::max(time, low);
      alike = alike && (time == low || time == no_thread);
    }
    return alike;
  });
}

void Knowledge::start(Agent warp, Mask existing) {
  common_.clear();
  diverged_ = 0;
  existing_ = existing;
  warp_ = warp;
  time_ = 1;
}

Clock& Knowledge::own_clock(std::uint32_t lane) {
  if ((diverged_ >> lane & 1) == 0) {
    diverged_ |= 1U << lane;
    if (own_[lane] == nullptr) own_[lane] = std::make_unique<Clock>();
    *own_[lane] = common_;
  }
  return *own_[lane];
}

void Knowledge::release(Mask mask, Clock& target) const {
  if ((mask & ~diverged_) != 0) target.join(common_);
  for_lanes(mask & diverged_, [&](std::uint32_t lane) { target.join(*own_[lane]); });
  target.learn(warp_, mask, existing_, time_);
}

void Knowledge::acquire(Mask mask, Mask live, const Clock& source) {
  const bool all = (live & ~mask) == 0;
  if (all) common_.join(source);
  for_lanes(all ? mask & diverged_ : mask, [&](std::uint32_t lane) { own_clock(lane).join(source); });
}

void Knowledge::learn(Mask mask, Mask live, Agent agent, std::uint32_t time) {
  const bool all = (live & ~mask) == 0;
  if (all) common_.learn(agent, time);
  for_lanes(all ? mask & diverged_ : mask, [&](std::uint32_t lane) { own_clock(lane).learn(agent, time); });
}

void Knowledge::synchronise(Mask mask, Mask live) {
  if ((live & ~mask) == 0) {
    for_lanes(mask & diverged_, [&](std::uint32_t lane) { common_.join(*own_[lane]); });
    diverged_ = 0;
    common_.learn(warp_, mask, existing_, time_);
  } else {
    Clock together;
    release(mask, together);
    for_lanes(mask, [&](std::uint32_t lane) { own_clock(lane) = together; });
  }
  tick();
}

}  // namespace sim
TMAJIT_END
