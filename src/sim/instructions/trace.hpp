#pragma once

/// Passes the memory accesses of an instruction to the race detector (sim/races).
#include "sim/cta/cta.hpp"

#include <array>
#include <optional>

TMAJIT_BEGIN
namespace sim {

/// The memory that a full warp accesses, if it is one range, which is then checked once and not lane by lane.
struct Stretch {
  std::byte* memory = nullptr;  ///< host memory of `low`; null: check the lanes one by one
  std::uint64_t low = 0;
  std::uint64_t span = 0;  ///< bytes
  bool linear = false;     ///< lane i accesses the i-th part of the range, which has no gaps
  bool shared = false;
  std::uint32_t offset = 0;  ///< shared: offset of `low`
  bool global = false;
};

/// Records the lanes of an instruction that access shared or global memory, for the race detector.
class Trace {
 public:
  Trace(Warp& warp, std::uint32_t bytes, bool write, const Ordering& ordering)
      : races_(warp.cta->races),
        warp_(warp),
        access_{Memory::shared, bytes, write, ordering},
        ordered_(ordering.strong && warp.program->orders_memory) {}

  /// Records the access of a full warp to one range of memory.
  void all(const Stretch& stretch, std::array<std::uint64_t, lanes>& addresses) {
    if (races_ == nullptr || (!stretch.shared && !stretch.global)) return;
    access_.memory = stretch.shared ? Memory::shared : Memory::global;
    access_.repeats = repeats_ && stretch.shared;
    const std::uint64_t base = stretch.shared ? warp_.cta->in_cluster(stretch.offset) - stretch.low : 0;
    if (stretch.linear) {
      races_->access(warp_, access_, base + stretch.low);
      return;
    }
    for (std::uint64_t& address : addresses) address += base;
    races_->access(warp_, access_, addresses, all_lanes);
  }

  /// Whether the caller must compare the values to be written to shared memory with those in memory.
  [[nodiscard]] bool compares() const noexcept { return races_ != nullptr && access_.write; }
  /// Notes that the lanes' writes to shared memory change nothing.
  void repeats() noexcept { repeats_ = true; }

  /// Whether the access itself makes an order (acquire, release); such an access is recorded lane by lane.
  [[nodiscard]] bool ordered() const noexcept { return races_ != nullptr && ordered_; }

  // To record lane by lane, call reach() for each lane, then begin(), access memory, then call finish().

  /// Records the target of a lane. `legal`: its access has not been reported.
  void reach(std::uint32_t lane, const Target& target, std::uint64_t address, bool legal) {
    if (races_ == nullptr || !choose(target)) return;
    at_[lane] = place(target, address);
    if (target.shared) reached_ |= 1U << lane;
    if (legal) (target.shared ? shared_ : global_) |= 1U << lane;
  }
  /// Publishes what the lanes release before they write. Another host thread that sees a value written to
  /// global memory then also finds the access that finish() records.
  void begin() {
    if (!access_.write || !ordered()) return;
    publish(Memory::shared, reached_);
    publish(Memory::global, global_);
    if (global_ != 0) step_.emplace(*races_, at_, global_);
  }
  void finish() {
    if (races_ == nullptr) return;
    finish(Memory::shared, shared_);
    finish(Memory::global, global_);
  }

 private:
  void publish(Memory memory, Mask mask) {
    access_.memory = memory;
    races_->before(warp_, mask, access_, at_);
  }
  bool choose(const Target& target) {
    access_.memory = target.shared ? Memory::shared : Memory::global;
    return target.shared || target.global;
  }
  void finish(Memory memory, Mask mask) {
    if (mask == 0) return;
    access_.memory = memory;
    access_.repeats = repeats_ && memory == Memory::shared;
    races_->access(warp_, access_, at_, mask);
    step_.reset();
    if (ordered_) races_->after(warp_, mask, access_, at_);
  }
  static std::uint64_t place(const Target& target, std::uint64_t address) {
    return target.shared ? target.owner->in_cluster(target.offset) : address;
  }

  Races* races_;
  Warp& warp_;
  WarpAccess access_;
  bool ordered_;
  bool repeats_ = false;
  Mask reached_ = 0;  ///< lanes that access shared memory, legal or not
  Mask shared_ = 0;
  Mask global_ = 0;
  std::optional<Races::Step> step_;
  std::array<std::uint64_t, lanes> at_;  // NOLINT: set for the lanes in the masks
};

}  // namespace sim
TMAJIT_END
