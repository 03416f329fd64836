#pragma once

/// Passes the memory accesses of an instruction to the race detector (races/races.hpp).
#include "sim/cta/cta.hpp"

#include <array>
#include <optional>

TMAJIT_BEGIN
namespace sim {

/// The range of memory that a full warp accesses. If it is in one allocation, it is checked once and not lane
/// by lane.
struct WarpRange {
  std::byte* memory = nullptr;  ///< host memory of address `low`; null: the lanes must be checked one by one
  std::uint64_t low = 0;        ///< lowest address
  std::uint64_t span = 0;       ///< bytes
  bool linear = false;          ///< lanes 0, 1, … access consecutive elements without gaps
  bool shared = false;
  std::uint32_t offset = 0;  ///< shared: offset of `low`
  bool global = false;
};

/// Records an instruction's accesses to shared and global memory for the race detector.
class Trace {
 public:
  Trace(Warp& warp, std::uint32_t bytes, bool write, const Ordering& ordering)
      : races_(warp.cta->races),
        warp_(warp),
        access_{Memory::shared, bytes, write, ordering},
        ordered_(ordering.strong && warp.program->orders_memory) {}

  /// Records the access of a full warp to one range of memory.
  void record_range(const WarpRange& range, std::array<std::uint64_t, lanes>& addresses) {
    if (races_ == nullptr || (!range.shared && !range.global)) return;
    access_.memory = range.shared ? Memory::shared : Memory::global;
    access_.same_value = same_value_ && range.shared;
    const std::uint64_t base = range.shared ? warp_.cta->in_cluster(range.offset) - range.low : 0;
    if (range.linear) {
      races_->access(warp_, access_, base + range.low);
      return;
    }
    for (std::uint64_t& address : addresses) address += base;
    races_->access(warp_, access_, addresses, all_lanes);
  }

  /// Whether the caller must compare the values to be written to shared memory with the values in memory. If
  /// all are equal, it calls mark_same_value().
  [[nodiscard]] bool needs_comparison() const noexcept { return races_ != nullptr && access_.write; }
  void mark_same_value() noexcept { same_value_ = true; }

  /// Whether the access may synchronise (acquire, release); such an access is recorded lane by lane.
  [[nodiscard]] bool ordered() const noexcept { return races_ != nullptr && ordered_; }

  // To record lane by lane: call add() for each lane, call begin(), access memory, call finish().

  /// Adds the access of a lane. `legal`: no mistake has been reported for it.
  void add(std::uint32_t lane, const Target& target, std::uint64_t address, bool legal) {
    if (races_ == nullptr || !select_memory(target)) return;
    addresses_[lane] = tracked_address(target, address);
    if (target.shared) reached_ |= 1U << lane;
    if (legal) (target.shared ? shared_ : global_) |= 1U << lane;
  }
  /// Publishes what the lanes release, before they write. From here to finish() the shadow of their global
  /// memory is locked, so another host thread that sees a written value also finds the recorded access.
  void begin() {
    if (!access_.write || !ordered()) return;
    publish(Memory::shared, reached_);
    publish(Memory::global, global_);
    if (global_ != 0) step_.emplace(*races_, addresses_, global_);
  }
  /// Records the accesses of all lanes, and then the releases that strong accesses have read.
  void finish() {
    if (races_ == nullptr) return;
    finish(Memory::shared, shared_);
    finish(Memory::global, global_);
  }

 private:
  void publish(Memory memory, Mask mask) {
    access_.memory = memory;
    races_->before(warp_, mask, access_, addresses_);
  }
  /// Returns false for memory that is neither shared nor global.
  bool select_memory(const Target& target) {
    access_.memory = target.shared ? Memory::shared : Memory::global;
    return target.shared || target.global;
  }
  void finish(Memory memory, Mask mask) {
    if (mask == 0) return;
    access_.memory = memory;
    access_.same_value = same_value_ && memory == Memory::shared;
    races_->access(warp_, access_, addresses_, mask);
    step_.reset();
    if (ordered_) races_->after(warp_, mask, access_, addresses_);
  }
  static std::uint64_t tracked_address(const Target& target, std::uint64_t address) {
    return target.shared ? target.owner->in_cluster(target.offset) : address;
  }

  Races* races_;
  Warp& warp_;
  WarpAccess access_;
  bool ordered_;
  bool same_value_ = false;
  Mask reached_ = 0;  ///< lanes that access shared memory, legally or not
  Mask shared_ = 0;   ///< lanes with a legal access to shared memory
  Mask global_ = 0;   ///< lanes with a legal access to global memory
  std::optional<Races::Step> step_;
  std::array<std::uint64_t, lanes> addresses_;  // NOLINT: set for the lanes in the masks
};

}  // namespace sim
TMAJIT_END
