#include "sim/knowledge.hpp"

#include "sim/warp.hpp"

TMAJIT_BEGIN
namespace sim {

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
