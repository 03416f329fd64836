#pragma once

/// What those who look for races learn of an instruction that accesses memory.
#include "sim/cta/cta.hpp"

#include <array>
#include <optional>

TMAJIT_BEGIN
namespace sim {

/// Where all lanes of a full warp go, if that is one stretch of memory: found once, not lane by lane.
struct Stretch {
  std::byte* memory = nullptr;  ///< of `low`; null if the lanes must be looked at one by one
  std::uint64_t low = 0;
  std::uint64_t span = 0;  ///< bytes
  bool linear = false;     ///< lane i accesses the i-th part of the stretch, which has no gaps
  bool shared = false;
  std::uint32_t offset = 0;  ///< shared: of `low`
  bool global = false;
};

/// Lanes that an instruction takes to shared or global memory, for those who look for races.
class Trace {
 public:
  Trace(Warp& warp, std::uint32_t bytes, bool write, const Ordering& ordering)
      : races_(warp.cta->races),
        warp_(warp),
        access_{Memory::shared, bytes, write, ordering},
        ordered_(ordering.strong && warp.program->orders_memory) {}

  /// A full warp's stretch of memory.
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

  /// Whether what is written to shared memory is to be compared with what stands there.
  [[nodiscard]] bool compares() const noexcept { return races_ != nullptr && access_.write; }
  /// The lanes' writes to shared memory change nothing.
  void repeats() noexcept { repeats_ = true; }

  /// Whether the order that the access itself makes counts: then it is looked at lane by lane.
  [[nodiscard]] bool ordered() const noexcept { return races_ != nullptr && ordered_; }

  // Lane by lane: where each goes, then begin(), then what they do to memory, then finish().

  /// With `legal` a lane goes there without a report.
  void reach(std::uint32_t lane, const Target& target, std::uint64_t address, bool legal) {
    if (races_ == nullptr || !choose(target)) return;
    at_[lane] = place(target, address);
    if (target.shared) reached_ |= 1U << lane;
    if (legal) (target.shared ? shared_ : global_) |= 1U << lane;
  }
  /// Who sees on another thread of the host what the lanes write finds what finish() remembers of it.
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
  Mask reached_ = 0;  ///< in shared memory, legal or not
  Mask shared_ = 0;
  Mask global_ = 0;
  std::optional<Races::Step> step_;
  std::array<std::uint64_t, lanes> at_;  // NOLINT: of lanes in the masks
};

}  // namespace sim
TMAJIT_END
