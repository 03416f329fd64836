#pragma once

/// Vector clocks: for every agent, how much of what it has done happens before a point of a program.
#include "sim/races/piece.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// The last known time of each agent. A warp has one time for all lanes, or one per lane where the lanes
/// differ. Time 0 is before everything.
class Clock {
 public:
  /// The time up to which the agent is known; for a warp, up to which all its lanes are.
  [[nodiscard]] std::uint32_t all(Agent agent) const noexcept {
    return agent < all_.size() ? all_[agent] : 0;
  }
  /// Whether the clock knows what the agent did at `time`; if the agent is a warp, what the lane did.
  [[nodiscard]] bool knows(Agent agent, std::uint32_t lane, std::uint32_t time) const noexcept {
    if (time <= all(agent)) return true;
    if (lanes_.empty()) return false;
    const Lanes* const entry = find(agent);
    return entry != nullptr && time <= entry->times[lane];
  }

  void learn(Agent agent, std::uint32_t time);
  /// Learns `time` of the lanes `of` of a warp in which only the lanes `existing` are threads.
  void learn(Agent warp, Mask of, Mask existing, std::uint32_t time);
  void join(const Clock& other);
  /// Whether nothing is known.
  [[nodiscard]] bool empty() const noexcept { return all_.empty() && lanes_.empty(); }
  void clear() noexcept {
    all_.clear();
    lanes_.clear();
  }

 private:
  static constexpr std::uint32_t no_thread = ~0U;
  struct Lanes {
    Agent warp = 0;
    std::array<std::uint32_t, lanes> times{};  ///< by lane; `forever` for a lane that is no thread
  };

  [[nodiscard]] const Lanes* find(Agent warp) const noexcept {
    for (const Lanes& entry : lanes_) {
      if (entry.warp == warp) return &entry;
    }
    return nullptr;
  }
  void normalise();

  std::vector<std::uint32_t> all_;
  std::vector<Lanes> lanes_;  ///< warps of which some lanes are known to a later time than all_ says
};

/// The clocks of a warp's lanes: mostly one clock for all of them.
class Knowledge {
 public:
  void start(Agent warp, Mask existing);

  /// The present time of the warp, which ends with every release.
  [[nodiscard]] std::uint32_t time() const noexcept { return time_; }
  [[nodiscard]] Mask existing() const noexcept { return existing_; }
  void tick() noexcept { ++time_; }
  [[nodiscard]] const Clock& common() const noexcept { return common_; }
  [[nodiscard]] const Clock& of(std::uint32_t lane) const noexcept {
    return (diverged_ >> lane & 1) != 0 ? *own_[lane] : common_;
  }
  /// Returns a clock whose contents all lanes of `mask` know.
  [[nodiscard]] const Clock& of_all(Mask mask) const noexcept {
    return (mask & (mask - 1)) == 0 ? of(first_lane(mask)) : common_;
  }

  /// Adds what the lanes know and have done to `target`. The caller must tick() afterwards.
  void release(Mask mask, Clock& target) const;
  /// The lanes of `mask` learn what `source` knows. `live`: the lanes of the warp that have not exited.
  void acquire(Mask mask, Mask live, const Clock& source);
  void learn(Mask mask, Mask live, Agent agent, std::uint32_t time);
  /// The lanes of `mask` have met: each learns what all of them did and knew. Ticks.
  void meet(Mask mask, Mask live);

 private:
  [[nodiscard]] Clock& own_clock(std::uint32_t lane);

  Clock common_;
  std::array<std::unique_ptr<Clock>, lanes> own_;  ///< complete clocks of the lanes in apart_
  Mask diverged_ = 0;
  Mask existing_ = 0;
  Agent warp_ = 0;
  std::uint32_t time_ = 1;
};

}  // namespace sim
TMAJIT_END
