#include "sim/races/clock.hpp"

#include "sim/warp/warp.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {

void Clock::learn(Agent agent, std::uint32_t time) {
  if (agent >= all_.size()) all_.resize(agent + 1U);
  all_[agent] = std::max(all_[agent], time);
}

void Clock::learn(Agent warp, Mask of, Mask existing, std::uint32_t time) {
  if (of == existing) {
    learn(warp, time);
    if (!lanes_.empty()) settle();
    return;
  }
  auto* apart = const_cast<Lanes*>(find(warp));
  if (apart == nullptr) {
    apart = &lanes_.emplace_back(Lanes{warp, {}});
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      apart->times[lane] = (existing >> lane & 1) != 0 ? all(warp) : forever;
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if ((of >> lane & 1) != 0) apart->times[lane] = std::max(apart->times[lane], time);
  }
  settle();
}

void Clock::join(const Clock& other) {
  if (other.all_.size() > all_.size()) all_.resize(other.all_.size());
  for (std::size_t i = 0; i < other.all_.size(); ++i) all_[i] = std::max(all_[i], other.all_[i]);
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
  settle();
}

/// Raises the time of each lane to the time of all lanes, and drops the warps whose lanes all have one time.
void Clock::settle() {
  std::erase_if(lanes_, [&](Lanes& apart) {
    const std::uint32_t low = std::max(all(apart.warp), *std::ranges::min_element(apart.times));
    learn(apart.warp, low);
    bool alike = true;
    for (std::uint32_t& time : apart.times) {
      time = std::max(time, low);
      alike = alike && (time == low || time == forever);
    }
    return alike;
  });
}

void Knowledge::start(Agent warp, Mask existing) {
  common_.clear();
  apart_ = 0;
  existing_ = existing;
  warp_ = warp;
  time_ = 1;
}

Clock& Knowledge::apart(std::uint32_t lane) {
  if ((apart_ >> lane & 1) == 0) {
    apart_ |= 1U << lane;
    if (own_[lane] == nullptr) own_[lane] = std::make_unique<Clock>();
    *own_[lane] = common_;
  }
  return *own_[lane];
}

void Knowledge::release(Mask mask, Clock& target) const {
  if ((mask & ~apart_) != 0) target.join(common_);
  for_lanes(mask & apart_, [&](std::uint32_t lane) { target.join(*own_[lane]); });
  target.learn(warp_, mask, existing_, time_);
}

void Knowledge::acquire(Mask mask, Mask live, const Clock& source) {
  const bool all = (live & ~mask) == 0;
  if (all) common_.join(source);
  for_lanes(all ? mask & apart_ : mask, [&](std::uint32_t lane) { apart(lane).join(source); });
}

void Knowledge::learn(Mask mask, Mask live, Agent agent, std::uint32_t time) {
  const bool all = (live & ~mask) == 0;
  if (all) common_.learn(agent, time);
  for_lanes(all ? mask & apart_ : mask, [&](std::uint32_t lane) { apart(lane).learn(agent, time); });
}

void Knowledge::meet(Mask mask, Mask live) {
  if ((live & ~mask) == 0) {
    for_lanes(mask & apart_, [&](std::uint32_t lane) { common_.join(*own_[lane]); });
    apart_ = 0;
    common_.learn(warp_, mask, existing_, time_);
  } else {
    Clock together;
    release(mask, together);
    for_lanes(mask, [&](std::uint32_t lane) { apart(lane) = together; });
  }
  tick();
}

}  // namespace sim
TMAJIT_END
