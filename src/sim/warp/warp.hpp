#pragma once

/// The state of a warp: registers for 32 lanes, and groups of lanes at the same instruction.
#include "check/rules.hpp"
#include "sim/program/program.hpp"

#include <array>
#include <bit>
#include <memory>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class Cta;

/// The event that a group of lanes waits for. `what` and `detail` depend on its kind.
struct Wait {
  enum class Kind : std::uint8_t {
    none,
    mbarrier,   ///< the mbarrier at shared offset `what`, for a phase of parity `detail`
    barrier,    ///< CTA barrier `what`
    warp,       ///< lanes `what` of the warp; `detail` is the instruction's member mask
    assembly,   ///< the other lanes of the warp, to arrive together at barrier `what` (Assembly)
    cluster,    ///< the cluster's barrier
    registers,  ///< setmaxnreg.inc to `what` registers
    products,   ///< the warpgroup's other warps, until each has issued `what` wgmma.mma_async
    delayed,    ///< an access to a peer's shared memory, or an arrival beyond an mbarrier's count, which the
                ///< scheduler delays as long as it may
    yielded,    ///< ready to run, but other threads run first
  };
  Kind kind = Kind::none;
  std::uint32_t what = 0;
  std::uint32_t detail = 0;
};

/// Lanes of a warp that share a program counter.
struct Group {
  Mask mask = 0;
  std::uint32_t pc = 0;
  Wait wait;
};

/// Lanes that execute a warp-wide instruction (shfl, vote, …) at one pc. Lanes at another pc may take part in
/// the same exchange.
struct Party {
  std::uint32_t pc;
  Mask lanes;
};

// Calls of functions that are not inlined: the return address of each lane, and the frames of recursive
// functions.

/// Limit of nested calls in a lane.
inline constexpr std::size_t max_open_calls = 1024;
/// Local memory of a lane for the frames of recursive functions, in bytes.
inline constexpr std::uint32_t stack_bytes = 16 * 1024;

/// One open call of a lane.
struct Activation {
  std::uint32_t return_pc = 0;
  std::uint32_t top = 0;  ///< top of the stack before the call, to which the return resets it
  /// For a recursive function, the values of its registers before this call: 8 bytes each, the frame's
  /// address last.
  std::vector<std::uint64_t> saved;
  /// The saved registers that were uninitialised.
  std::vector<UndefinedRegister> undefined;
};

/// Open calls of a warp. The first call creates it.
struct CallStack {
  std::array<std::vector<Activation>, lanes> calls;
  std::array<std::uint32_t, lanes> top{};  ///< bytes of stack_bytes in use
};

struct WarpgroupState;
class Undefined;
struct Warp {
  Warp();
  ~Warp();
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  Cta* cta = nullptr;
  const Program* program = nullptr;
  std::byte* registers = nullptr;
  std::byte* local = nullptr;  ///< lane i begins at i · local_bytes
  std::uint32_t index = 0;
  Mask live = 0;  ///< lanes that have not exited

  // The running group: `active` and `pc`. The other groups are in `groups`, in no order.
  Mask active = 0;
  std::uint32_t pc = 0;  ///< micro-operation that runs next
  bool running = false;
  std::uint32_t join = ~0U;  ///< least pc of the other ready groups, at which the running group yields
  std::vector<Group> groups;
  std::unique_ptr<CallStack> calls;           ///< null until the first call
  bool timed_out = false;                     ///< the next try_wait may report failure, once
  std::vector<std::uint32_t> gave_up;         ///< pcs of try_waits that have failed since they last succeeded
  std::array<std::uint32_t, 16> red_true{};   ///< bar.red, by CTA barrier: threads with a true predicate
  std::array<std::uint32_t, 16> red_total{};  ///< bar.red, by CTA barrier: threads that took part
  Mask cluster_arrived = 0;  ///< lanes that have arrived in the present phase of the cluster's barrier
  Mask cluster_passed = 0;   ///< lanes that arrived in a completed phase and have not executed the wait yet
  std::uint32_t registers_each = 0;  ///< registers of a thread under setmaxnreg; 0: setmaxnreg has no effect
  std::unique_ptr<WarpgroupState> warpgroup;  ///< null until the first instruction of a warpgroup
  std::unique_ptr<Undefined> undefined;       ///< null until some register may be undefined
  bool changes_loop = false;        ///< Cta::run must switch to the loop that tracks undefined values
  std::uint32_t sync_arrivals = 0;  ///< arrivals at CTA barriers and mbarriers
  /// CTA barriers at which the warp has arrived, one bit each. A barrier's bit is cleared when the barrier is
  /// used for another number of threads.
  std::uint32_t used_barriers = 0;
  Mask released = 0;  ///< lanes whose next access to a peer is not delayed again

  /// The present micro-operation: `pc` is the next one already.
  [[nodiscard]] std::uint32_t here() const noexcept { return pc - 1; }
  /// The present instruction's index into Program::locations.
  [[nodiscard]] std::uint32_t location() const noexcept { return program->location_of[here()]; }
  /// The number of a lane's thread in its CTA.
  [[nodiscard]] std::uint32_t thread(std::uint32_t lane) const noexcept { return index * lanes + lane; }
  /// Reports what a lane does at the present instruction; see Cta::report.
  void report(std::uint32_t lane, check::RuleId rule, std::string found, std::string expected = {},
              std::string_view remedy = {}) const;
  /// Reports a violation. Then throws Skip if the launch continues after violations of this rule, else Stop.
  [[noreturn]] void fail(std::uint32_t lane, check::RuleId rule, std::string found, std::string expected = {},
                         std::string_view remedy = {}) const;
  /// Reports a violation after which no thread can continue, and throws Stop.
  [[noreturn]] void stop(std::uint32_t lane, check::RuleId rule, std::string found, std::string expected = {},
                         std::string_view remedy = {}) const;

  /// Moves the lanes of `mask` from the running group to a group that waits at pc `at` for `wait`. The warp
  /// stops running if no active lane is left.
  void park(Mask mask, std::uint32_t at, Wait wait);
  /// The lanes of `mask` continue at `target`, the other lanes of the running group at `pc`.
  void jump(Mask mask, std::uint32_t target);
  /// Returns whether `mask` contains all lanes of `members` that have not exited. If not, the lanes of `mask`
  /// wait at the present instruction for the missing lanes.
  [[nodiscard]] bool gather(Mask mask, Mask members = all_lanes);
  /// The lanes of `mask` are about to wait for the lanes of `missing`. Reports, and stops the CTA, if lanes
  /// of `missing` already wait for lanes of `mask` at another instruction or with another mask of members.
  void require_progress(Mask mask, Mask members, Mask missing) const;
  /// Removes the lanes of `mask`, which have exited. Lanes that waited for them re-execute their instruction.
  void retire(Mask mask);
  /// Sets `join`. Must be called after a change of `groups`.
  void update_join();
  /// Makes each group ready whose wait satisfies `ended`.
  template <typename Ended>
  void wake(const Ended& ended) {
    for (Group& group : groups) {
      if (ended(group.wait)) group.wait = {};
    }
    update_join();
  }
  /// Merges ready groups with equal pc, and selects the group with the least pc to run. Returns false if all
  /// groups wait.
  bool choose();
};

/// Barriers at which the lanes of a warp may arrive from different instructions. CTA barrier i has number i.
enum Assembly : std::uint32_t { cluster_arrival = 16, cluster_waiting = 17 };

/// Assembles a warp at a barrier without .aligned: the warp arrives once all its lanes that have not exited
/// have come. If lanes are missing, parks the lanes of `mask` and returns false. Else calls visit(group) for
/// each group that came earlier; `visit` sets the group's pc and wait.
template <typename Visit>
bool assemble(Warp& warp, std::uint32_t barrier, Mask mask, const Visit& visit) {
  const auto at_barrier = [&](const Group& group) {
    return group.wait.kind == Wait::Kind::assembly && group.wait.what == barrier;
  };
  Mask arrived = mask;
  for (const Group& group : warp.groups) arrived |= at_barrier(group) ? group.mask : 0;
  if ((warp.live & ~arrived) != 0) {
    warp.require_progress(mask, all_lanes, warp.live & ~arrived);
    warp.park(mask, warp.here(), {Wait::Kind::assembly, barrier, 0});
    return false;
  }
  for (Group& group : warp.groups) {
    if (at_barrier(group)) visit(group);
  }
  warp.update_join();
  return true;
}

/// The value of a lane in a slot. Types of up to 32 bits take 4 bytes a lane; put() sign- or zero-extends
/// them, get() truncates.
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

/// The predicate at `slot`, one bit per lane.
[[nodiscard]] inline Mask& predicate(Warp& warp, Slot slot) noexcept {
  return *reinterpret_cast<Mask*>(warp.registers + slot);
}

/// The predicate at `slot`, complemented if `slot` is odd: decode adds 1 to the slot of a negated predicate.
[[nodiscard]] inline Mask read_mask(const Warp& warp, Slot slot) noexcept {
  return *reinterpret_cast<const Mask*>(warp.registers + (slot & ~1U)) ^ (0U - (slot & 1U));
}
/// Sets the bits of the predicate at `slot` in the lanes of `mask` to those of `value`.
inline void write_mask(Warp& warp, Slot slot, Mask mask, Mask value) noexcept {
  Mask& p = predicate(warp, slot);
  p = (p & ~mask) | (value & mask);
}
/// Sets the bit of one lane of the predicate at `slot`.
inline void write_lane(Warp& warp, Slot slot, std::uint32_t lane, bool value) noexcept {
  write_mask(warp, slot, 1U << lane, value ? all_lanes : 0U);
}

template <typename Visit>
inline void for_lanes(Mask mask, const Visit& visit) {
  for (; mask != 0; mask &= mask - 1) visit(first_lane(mask));
}

/// Like for_lanes(), for simple visits: the compiler can vectorise the loop over all lanes.
template <typename Visit>
inline void for_lanes_vectorised(Mask mask, const Visit& visit) {
  if (mask != all_lanes) return for_lanes(mask, visit);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) visit(lane);
}

inline constexpr auto lane_masks = [] {
  std::array<Mask, lanes> masks{};
  for (std::uint32_t lane = 0; lane < lanes; ++lane) masks[lane] = 1U << lane;
  return masks;
}();
/// The mask of one lane if the condition holds, else 0. A loop that calls it can be vectorised, one that
/// shifts by the lane cannot.
[[nodiscard]] inline Mask lane_if(bool condition, std::uint32_t lane) noexcept {
  return (0U - Mask{condition}) & lane_masks[lane];
}

/// Calls visit(key, lanes) for each set of lanes of `mask` that have equal key(lane).
template <typename Key, typename Visit>
inline void for_alike(Mask mask, const Key& key, const Visit& visit) {
  while (mask != 0) {
    const auto first = key(first_lane(mask));
    Mask same = 0;
    for_lanes_vectorised(mask, [&](std::uint32_t lane) { same |= lane_if(key(lane) == first, lane); });
    visit(first, same);
    mask &= ~same;
  }
}

// Tells the compiler that the lanes of an operation do not depend on each other, even if its slots are equal.
#if defined(__clang__)
#define TMAJIT_SIM_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define TMAJIT_SIM_LANES _Pragma("GCC ivdep")
#endif

/// d = operation(a, b, c) for each lane.
template <auto operation, typename D, typename... S>
void apply(Warp& warp, const MicroOp& op, Mask mask) {
  std::byte* const registers = warp.registers;
  std::byte* const d = registers + op.d;
  const Slot slots[] = {op.a, op.b, op.c};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    if (mask == all_lanes) {
      TMAJIT_SIM_LANES
      for (std::uint32_t i = 0; i < lanes; ++i)
        put<D>(d, i, static_cast<D>(operation(get<S>(registers + slots[I], i)...)));
    } else {
      for_lanes(mask, [&](std::uint32_t i) {
        put<D>(d, i, static_cast<D>(operation(get<S>(registers + slots[I], i)...)));
      });
    }
  }
  (std::index_sequence_for<S...>{});
}

/// The handler of d = operation(…) with `operands` operands. Operands and result have type T.
template <auto operation, typename T, std::size_t operands>
constexpr Handler uniform = []<std::size_t... I>(std::index_sequence<I...>) -> Handler {
  return &apply<operation, T, std::enable_if_t<(I >= 0), T>...>;
}
(std::make_index_sequence<operands>{});

/// Returns its operand, which apply() then truncates or extends to the result's type.
inline constexpr auto identity = [](auto a) { return a; };
/// Copies predicate a to d; complements it if slot a is odd (see read_mask).
inline void move_predicate(Warp& warp, const MicroOp& op, Mask mask) {
  write_mask(warp, op.d, mask, read_mask(warp, op.a));
}

}  // namespace sim
TMAJIT_END
