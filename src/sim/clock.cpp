#include "sim/clock.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {
namespace {

constexpr std::uint32_t forever = ~0U;

}  // namespace

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

/// No lane is known less than all; where all are known alike, they are not told apart.
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

}  // namespace sim
TMAJIT_END
