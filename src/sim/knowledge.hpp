#pragma once

/// What the lanes of a warp know: mostly one clock for all of them.
#include "sim/clock.hpp"

#include <bit>
#include <memory>

TMAJIT_BEGIN
namespace sim {

class Knowledge {
 public:
  void start(Agent warp, Mask existing);

  /// The time of what the warp does now; ends with every release.
  [[nodiscard]] std::uint32_t time() const noexcept { return time_; }
  [[nodiscard]] Mask existing() const noexcept { return existing_; }
  void tick() noexcept { ++time_; }
  [[nodiscard]] const Clock& common() const noexcept { return common_; }
  [[nodiscard]] const Clock& of(std::uint32_t lane) const noexcept {
    return (apart_ >> lane & 1) != 0 ? *own_[lane] : common_;
  }
  /// What all lanes of `mask` know at least.
  [[nodiscard]] const Clock& of_all(Mask mask) const noexcept {
    return std::has_single_bit(mask) ? of(static_cast<std::uint32_t>(std::countr_zero(mask))) : common_;
  }

  /// Puts what the lanes know and have done into `target`. The caller then ticks.
  void release(Mask mask, Clock& target) const;
  /// The lanes, of the `live` ones, now know what `source` knows.
  void acquire(Mask mask, Mask live, const Clock& source);
  void learn(Mask mask, Mask live, Agent agent, std::uint32_t time);
  /// The lanes have met: each knows what all did and knew. Ticks.
  void meet(Mask mask, Mask live);

 private:
  [[nodiscard]] Clock& apart(std::uint32_t lane);

  Clock common_;
  std::array<std::unique_ptr<Clock>, lanes> own_;  ///< of lanes in apart_: the whole of what they know
  Mask apart_ = 0;
  Mask existing_ = 0;
  Agent warp_ = 0;
  std::uint32_t time_ = 1;
};

}  // namespace sim
TMAJIT_END
