#pragma once

/// Vector clocks: how much of what every other agent has done happens before a point of a program.
#include "sim/program.hpp"

#include <array>
#include <cstdint>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// What has a time of its own: warps 0 … 31, then whatever works beside them: the loads of an mbarrier, the
/// bulk stores of a thread, what a thread has learned from other CTAs.
using Agent = std::uint16_t;
inline constexpr Agent first_agent = 32;

/// For each agent the last time that is known; of a warp one time for all lanes, or one a lane where they
/// differ. Time 0 is before everything.
class Clock {
 public:
  /// The time that is known of the agent, of a warp: of all its lanes.
  [[nodiscard]] std::uint32_t all(Agent agent) const noexcept {
    return agent < all_.size() ? all_[agent] : 0;
  }
  /// Whether what the agent, if a warp the lane, did at `time` is known.
  [[nodiscard]] bool knows(Agent agent, std::uint32_t lane, std::uint32_t time) const noexcept {
    if (time <= all(agent)) return true;
    if (lanes_.empty() || agent >= first_agent) return false;
    const Lanes* const apart = find(agent);
    return apart != nullptr && time <= apart->times[lane];
  }

  void learn(Agent agent, std::uint32_t time);
  /// Lanes `of` of a warp in which only the lanes `existing` are threads.
  void learn(Agent warp, Mask of, Mask existing, std::uint32_t time);
  void join(const Clock& other);
  void clear() noexcept {
    all_.clear();
    lanes_.clear();
  }

 private:
  struct Lanes {
    Agent warp = 0;
    std::array<std::uint32_t, lanes> times{};  ///< of lanes that are no threads: the largest
  };

  [[nodiscard]] const Lanes* find(Agent warp) const noexcept {
    for (const Lanes& apart : lanes_) {
      if (apart.warp == warp) return &apart;
    }
    return nullptr;
  }
  void settle();

  std::vector<std::uint32_t> all_;
  std::vector<Lanes> lanes_;  ///< warps of which some lanes are known better than all
};

}  // namespace sim
TMAJIT_END
