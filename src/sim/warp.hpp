#pragma once

/// A warp's state: registers for 32 lanes, and groups of lanes that stand at the same instruction.
#include "sim/call_stack.hpp"
#include "sim/program.hpp"

#include <bit>
#include <cstring>
#include <memory>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class Cta;

/// Why a group of lanes cannot go on.
struct Wait {
  enum class Kind : std::uint8_t {
    none,
    mbarrier,  ///< shared address `what`, parity `detail`
    barrier,   ///< CTA barrier `what`
    warp,      ///< other lanes of the warp, lanes `what`
    cluster,   ///< the cluster's barrier
    held,      ///< about to access a peer's shared memory, which happens as late as it may
    yielded,   ///< ready, but others go first
  };
  Kind kind = Kind::none;
  std::uint32_t what = 0;
  std::uint32_t detail = 0;
};

struct Group {
  Mask mask = 0;
  std::uint32_t pc = 0;
  Wait wait;
};

struct Warp {
  Cta* cta = nullptr;
  const Program* program = nullptr;
  std::byte* registers = nullptr;
  std::byte* local = nullptr;  ///< lane · local_bytes
  std::uint32_t index = 0;
  Mask live = 0;  ///< lanes that have not exited

  // The running group, and the others in no order.
  Mask active = 0;
  std::uint32_t pc = 0;  ///< of the next instruction
  bool running = false;
  std::uint32_t join = ~0U;  ///< least counter of another ready group: where the running one gives way
  std::vector<Group> groups;
  std::unique_ptr<CallStack> calls;            ///< null until the first call
  bool timed_out = false;                      ///< the next try_wait may report failure, once
  std::array<std::uint32_t, 16> reductions{};  ///< of bar.red at each CTA barrier: threads that said yes …
  std::array<std::uint32_t, 16> reduced{};     ///< … of how many
  Mask cluster_arrived = 0;                    ///< at the cluster's barrier, in its present phase
  Mask cluster_passed = 0;  ///< its phase has completed, and they have not waited for it yet
  Mask released = 0;        ///< lanes whose next access to a peer is not held again

  [[nodiscard]] std::uint32_t here() const noexcept { return pc - 1; }

  /// Splits the lanes of `mask` off the running group, to stand at `at` under `wait`; stops the group if
  /// none is left.
  void park(Mask mask, std::uint32_t at, Wait wait);
  /// Takes exited lanes away.
  void retire(Mask mask);
  void update_join();
  /// Makes the groups ready whose wait satisfies `ended`.
  template <typename Ended>
  void wake(const Ended& ended) {
    for (Group& group : groups) {
      if (ended(group.wait)) group.wait = {};
    }
    update_join();
  }
  /// Makes ready groups with one counter one group, and runs the one with the least. False if all wait.
  bool choose();
};

/// Lane values of a slot. Types of up to 32 bits live in 4 bytes a lane, sign- or zero-extended when written
/// and cut when read.
template <typename T>
[[nodiscard]] inline T get(const std::byte* slot, std::uint32_t lane) noexcept {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(reinterpret_cast<const std::uint64_t*>(slot)[lane]);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(reinterpret_cast<const std::uint32_t*>(slot)[lane]);
  } else {
    return static_cast<T>(reinterpret_cast<const std::uint32_t*>(slot)[lane]);
  }
}
template <typename T>
inline void put(std::byte* slot, std::uint32_t lane, T value) noexcept {
  if constexpr (sizeof(T) == 8) {
    reinterpret_cast<std::uint64_t*>(slot)[lane] = std::bit_cast<std::uint64_t>(value);
  } else if constexpr (sizeof(T) == 4) {
    reinterpret_cast<std::uint32_t*>(slot)[lane] = std::bit_cast<std::uint32_t>(value);
  } else {
    reinterpret_cast<std::uint32_t*>(slot)[lane] =
        static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
  }
}

/// The predicate at `slot`, a bit a lane.
[[nodiscard]] inline Mask& predicate(Warp& warp, Slot slot) noexcept {
  return *reinterpret_cast<Mask*>(warp.registers + slot);
}

template <typename Visit>
inline void for_lanes(Mask mask, const Visit& visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

// The lanes do not depend on each other, whichever slots an operation reads and writes.
#if defined(__clang__)
#define TMAJIT_SIM_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define TMAJIT_SIM_LANES _Pragma("GCC ivdep")
#endif

/// d = Op(a, b, c) for each lane.
template <typename Op, typename D, typename... S>
void apply(Warp& warp, const MicroOp& op, Mask mask) {
  std::byte* const r = warp.registers;
  std::byte* const d = r + op.d;
  const Slot slots[] = {op.a, op.b, op.c};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    if (mask == all_lanes) {
      TMAJIT_SIM_LANES
      for (std::uint32_t i = 0; i < lanes; ++i)
        put<D>(d, i, static_cast<D>(Op{}(get<S>(r + slots[I], i)...)));
    } else {
      for_lanes(mask,
                [&](std::uint32_t i) { put<D>(d, i, static_cast<D>(Op{}(get<S>(r + slots[I], i)...))); });
    }
  }
  (std::index_sequence_for<S...>{});
}

}  // namespace sim
TMAJIT_END
