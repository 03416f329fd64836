#pragma once

/// Vector clocks. A clock gives, for each agent, the time up to which the agent's accesses happen before some
/// point of the program.
#include "sim/races/piece.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// The last known time of each agent. A warp has one time for all its lanes, or one time per lane if these
/// differ. Time 0 is before all accesses.
class Clock {
 public:
  /// The time up to which the agent is known; for a warp, the time up to which all its lanes are known.
  [[nodiscard]] std::uint32_t time_of(Agent agent) const noexcept {
    return agent < times_.size() ? times_[agent] : 0;
  }
  /// Whether the clock includes the agent's accesses at `time`; if the agent is a warp, those of the lane.
  [[nodiscard]] bool knows(Agent agent, std::uint32_t lane, std::uint32_t time) const noexcept {
    if (time <= time_of(agent)) return true;
    if (lanes_.empty()) return false;
    const Lanes* const entry = find(agent);
    return entry != nullptr && time <= entry->times[lane];
  }

  /// Raises the time of an agent to `time`.
  void learn(Agent agent, std::uint32_t time);
  /// Raises the time of the lanes `of` of a warp to `time`. Only the lanes `existing` of the warp are
  /// threads.
  void learn(Agent warp, Mask of, Mask existing, std::uint32_t time);
  /// Raises each time to that of `other`.
  void join(const Clock& other);
  /// Whether no agent is known.
  [[nodiscard]] bool empty() const noexcept { return times_.empty() && lanes_.empty(); }
  void clear() noexcept {
    times_.clear();
    lanes_.clear();
  }

 private:
  static constexpr std::uint32_t no_thread = ~0U;
  struct Lanes {
    Agent warp = 0;
    std::array<std::uint32_t, lanes> times{};  ///< by lane; `no_thread` for a lane that is no thread
  };

  [[nodiscard]] const Lanes* find(Agent warp) const noexcept {
    for (const Lanes& entry : lanes_) {
      if (entry.warp == warp) return &entry;
    }
    return nullptr;
  }
  void normalise();

  std::vector<std::uint32_t> times_;
  std::vector<Lanes> lanes_;  ///< warps of which some lanes are known up to a later time than in times_
};

/// The clocks of a warp's lanes. Usually the lanes share one clock.
class Knowledge {
 public:
  void start(Agent warp, Mask existing);

  /// The present time of the warp. A new time begins after each release.
  [[nodiscard]] std::uint32_t time() const noexcept { return time_; }
  [[nodiscard]] Mask existing() const noexcept { return existing_; }
  void tick() noexcept { ++time_; }
  [[nodiscard]] const Clock& common() const noexcept { return common_; }
  /// The clock of a lane.
  [[nodiscard]] const Clock& of(std::uint32_t lane) const noexcept {
    return (diverged_ >> lane & 1) != 0 ? *own_[lane] : common_;
  }
  /// A clock that is contained in the clock of every lane of `mask`.
  [[nodiscard]] const Clock& of_all(Mask mask) const noexcept {
    return (mask & (mask - 1)) == 0 ? of(first_lane(mask)) : common_;
  }

  /// Joins the clocks of the lanes, and their own accesses so far, into `target`. The caller must tick()
  /// afterwards.
  void release(Mask mask, Clock& target) const;
  /// Joins `source` into the clocks of the lanes of `mask`. `live`: the lanes of the warp that have not
  /// exited.
  void acquire(Mask mask, Mask live, const Clock& source);
  void learn(Mask mask, Mask live, Agent agent, std::uint32_t time);
  /// The lanes of `mask` have synchronised: each learns the clocks and the accesses of all of them. Ticks.
  void synchronise(Mask mask, Mask live);

 private:
  [[nodiscard]] Clock& own_clock(std::uint32_t lane);

  Clock common_;
  std::array<std::unique_ptr<Clock>, lanes> own_;  ///< complete clocks of the lanes in diverged_
  Mask diverged_ = 0;
  Mask existing_ = 0;
  Agent warp_ = 0;
  std::uint32_t time_ = 1;
};

}  // namespace sim
TMAJIT_END
