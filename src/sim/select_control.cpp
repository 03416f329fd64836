/// Control flow, CTA barriers and fences (PTX ISA 9.7.12, 9.7.13).
#include "sim/cta.hpp"
#include "sim/decode.hpp"

#include <bit>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

void branch(Warp& warp, const MicroOp& op, Mask mask) {
  if (mask == warp.active) {
    warp.pc = op.aux;
    return;
  }
  // Those who do not take it stand at the next instruction; the ones with the smaller counter go first.
  warp.groups.push_back({mask, op.aux, {}});
  warp.active &= ~mask;
  warp.update_join();
}

void branch_table(Warp& warp, const MicroOp& op, Mask mask) {
  const auto& table = warp.program->branch_tables[op.aux];
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto index = get<std::uint32_t>(warp.registers + op.a, lane);
    if (index >= table.size()) {
      warp.cta->fail(warp, lane, "branch.index", fmt::format("brx.idx with index {}", index),
                     fmt::format("an index below {}", table.size()), "check the switch's bounds");
    }
    warp.groups.push_back({1U << lane, table[index], {}});
  });
  warp.active &= ~mask;
  (void)warp.choose();
}

void exit_lanes(Warp& warp, const MicroOp&, Mask mask) {
  warp.retire(mask);
  warp.cta->threads_exited(warp, mask);
}

void trap(Warp& warp, const MicroOp&, Mask mask) {
  warp.cta->fail(warp, static_cast<std::uint32_t>(std::countr_zero(mask)), "trap", "the kernel executed trap",
                 "no trap", "an assertion of the kernel failed");
}

/// A predicate's slot, with 1 added if it is negated.
Mask says(Warp& warp, Slot slot) {
  return predicate(warp, slot & ~1U) ^ (0U - (slot & 1U));
}

constexpr std::uint32_t aligned = 1;
constexpr std::uint32_t counted = 2;
constexpr std::uint32_t waits = 4;

/// bar.sync, bar.arrive, and the first part of bar.red: a is the barrier, b the number of threads, c what the
/// lanes say to a reduction.
void barrier(Warp& warp, const MicroOp& op, Mask mask) {
  Cta& cta = *warp.cta;
  if ((op.aux & aligned) != 0 && (warp.live & ~mask) != 0) {
    warp.park(mask, warp.here(), {Wait::Kind::warp, warp.live & ~mask, 0});
    return;
  }
  const auto first = static_cast<std::uint32_t>(std::countr_zero(mask));
  const auto id = get<std::uint32_t>(warp.registers + op.a, first);
  const std::uint32_t expected =
      (op.aux & counted) != 0 ? get<std::uint32_t>(warp.registers + op.b, first) : 0;
  if (id >= cta.barriers.size() || expected % lanes != 0) {
    cta.fail(warp, first, "barrier.operand", fmt::format("barrier {} for {} threads", id, expected),
             "a barrier from 0 to 15, and a multiple of 32 threads", "count whole warps");
  }
  NamedBarrier& state = cta.barriers[id];
  if (state.arrived > 0 && state.expected != expected) {
    cta.fail(
        warp, first, "barrier.count",
        fmt::format("barrier {} for {} threads, while others arrived for {}", id, expected, state.expected),
        "one number of threads for all who take part", "use another barrier, or the same number");
  }
  state.expected = expected;
  state.said += static_cast<std::uint32_t>(std::popcount(mask & says(warp, op.c)));
  state.arrived += expected != 0 ? lanes : static_cast<std::uint32_t>(std::popcount(mask));
  ++cta.changes;
  const std::uint32_t needed = expected != 0 ? expected : cta.live_threads;
  if (state.arrived > needed) {
    cta.fail(warp, first, "barrier.overflow",
             fmt::format("{} threads at barrier {} for {}", state.arrived, id, needed),
             "as many threads as the barrier is for", "use another barrier for other warps");
  }
  if (state.arrived == needed) {
    warp.reductions[id] = state.said;
    warp.reduced[id] = state.arrived;
    cta.release_barrier(id);
  } else if ((op.aux & waits) != 0) {
    warp.park(mask, warp.pc, {Wait::Kind::barrier, id, 0});
  }
}

enum class Reduce : std::uint8_t { popc, and_, or_ };

/// The second part of bar.red: d gets what all threads said at barrier a.
template <Reduce what>
void barrier_result(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint32_t id = get<std::uint32_t>(warp.registers + op.a, lane) % 16;
    const std::uint32_t yes = warp.reductions[id];
    if constexpr (what == Reduce::popc) {
      put(warp.registers + op.d, lane, yes);
    } else {
      const bool result = what == Reduce::or_ ? yes != 0 : yes == warp.reduced[id];
      Mask& p = predicate(warp, op.d);
      p = (p & ~(1U << lane)) | static_cast<Mask>(result) << lane;
    }
  });
}

void fence_async(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->fence_async(warp.index * lanes + lane); });
}

void fence_mbarriers(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->fence_mbarriers(warp.index * lanes + lane); });
}

void nothing(Warp&, const MicroOp&, Mask) {}

void give_way(Warp& warp, const MicroOp&, Mask) {
  warp.park(warp.active, warp.pc, {Wait::Kind::yielded, 0, 0});
}

/// bar.red d, a{, b}, p
void emit_barrier_reduction(Decoder& d) {
  std::uint32_t flags = waits;
  if (d.in().words.front() == "bar" || d.has("aligned")) flags |= aligned;
  const bool has_count = d.args().size() > 3;
  if (has_count) flags |= counted;
  const Slot id = d.read(d.arg(1), ScalarType::u32);
  const Slot count = has_count ? d.read(d.arg(2), ScalarType::u32) : 0;
  d.emit(&barrier, 0, id, count, d.read_predicate(d.args().back()), flags);
  if (d.has("popc")) {
    d.emit(&barrier_result<Reduce::popc>, d.write(d.arg(0), ScalarType::u32), id);
  } else {
    d.emit(d.has("and") ? &barrier_result<Reduce::and_> : &barrier_result<Reduce::or_>,
           d.write_predicate(d.arg(0)), id);
  }
}

void emit_barrier(Decoder& d, bool wait) {
  std::uint32_t flags = wait ? waits : 0;
  // bar is short for barrier….aligned.
  if (d.in().words.front() == "bar" || d.has("aligned")) flags |= aligned;
  const bool has_count = d.args().size() > 1;
  if (has_count) flags |= counted;
  d.emit(&barrier, 0, d.read(d.arg(0), ScalarType::u32), has_count ? d.read(d.arg(1), ScalarType::u32) : 0, 0,
         flags);
}

}  // namespace

bool select_control(Decoder& d) {
  switch (d.in().opcode) {
    case Opcode::bra:
      if (d.arg(0).kind != Arg::Kind::label) return false;
      d.emit_branch(&branch, d.arg(0).bits);
      return true;
    case Opcode::brx_idx: {
      if (d.arg(1).kind != Arg::Kind::table) return false;
      d.emit(&branch_table, 0, d.read(d.arg(0), ScalarType::u32), 0, 0,
             static_cast<std::uint32_t>(d.arg(1).bits));
      return true;
    }
    case Opcode::ret:  // of the kernel; select_call takes those of functions
    case Opcode::exit: d.emit(&exit_lanes); return true;
    case Opcode::trap:
    case Opcode::brkpt: d.emit(&trap); return true;
    case Opcode::bar_sync: emit_barrier(d, true); return true;
    case Opcode::bar_arrive: emit_barrier(d, false); return true;
    case Opcode::bar_red: emit_barrier_reduction(d); return true;
    case Opcode::fence_proxy:
      // Whatever the scope: those of shared memory are a part of the fence of all spaces.
      d.emit(d.has("async") && !d.has("global") ? &fence_async : &nothing);
      return true;
    case Opcode::fence_mbarrier_init: d.emit(&fence_mbarriers); return true;
    // The host's memory is as strong as any fence asks, within a CTA trivially.
    case Opcode::membar:
    case Opcode::fence:
    case Opcode::griddepcontrol:
    case Opcode::pmevent:
    case Opcode::setmaxnreg: d.emit(&nothing); return true;
    case Opcode::nanosleep: d.emit(&give_way); return true;
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
