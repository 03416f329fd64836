/// Barriers of a CTA and of a cluster, and fences (PTX ISA 9.7.13).
#include "sim/causes/causes.hpp"
#include "sim/instructions/select.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

// Flags of a CTA barrier instruction, in MicroOp::aux.
constexpr std::uint32_t aligned = 1;
constexpr std::uint32_t counted = 2;  ///< has an operand with the number of threads
constexpr std::uint32_t waits = 4;    ///< sync or red; else arrive

/// The barrier that a lane names: (number, count of threads). A count of 0 stands for all threads of the CTA.
using BarrierRequest = std::pair<std::uint32_t, std::uint32_t>;

BarrierRequest request_of(const Warp& warp, const MicroOp& op, std::uint32_t lane) {
  return {get<std::uint32_t>(warp.registers + op.a, lane),
          (op.aux & counted) != 0 ? get<std::uint32_t>(warp.registers + op.b, lane) : 0};
}

/// The arrival of a warp at a CTA barrier.
struct WarpArrival {
  Mask all = 0;                       ///< lanes that arrive
  Mask passing = 0;                   ///< lanes at this instruction that wait for the barrier
  bool waits = true;                  ///< all lanes wait for the barrier
  std::uint32_t true_predicates = 0;  ///< bar.red: lanes whose predicate is true
};

void arrive_at_barrier(Warp& warp, const BarrierRequest& request, const WarpArrival& arrival) {
  const auto [id, expected] = request;
  Cta& cta = *warp.cta;
  const auto first = first_lane(arrival.all);
  if (id >= cta.barriers.size() || expected % lanes != 0)
    warp.fail(first, "barrier.operand", fmt::format("barrier {} for {} threads", id, expected));
  NamedBarrier& state = cta.barriers[id];
  if (state.arrived > 0 && state.expected != expected) {
    warp.fail(
        first, "barrier.count",
        fmt::format("barrier {} for {} threads, while others arrived for {}", id, expected, state.expected));
  }
  const std::uint32_t arrived = state.arrived + (expected != 0 ? lanes : count_of(arrival.all));
  const std::uint32_t needed = expected != 0 ? expected : cta.live_threads;
  if (arrived > needed) {
    warp.fail(first, "barrier.overflow", fmt::format("{} threads at barrier {} for {}", arrived, id, needed));
  }
  if (state.arrived == 0 && state.expected != expected) {
    for (const auto& each : cta.warps) each->used_barriers &= ~(1U << id);
  }
  state.expected = expected;
  state.true_predicates += arrival.true_predicates;
  state.arrived = arrived;
  ++cta.changes;
  ++warp.sync_arrivals;
  warp.used_barriers |= 1U << id;
  if (cta.races) cta.races->barrier_arrive(id, warp, arrival.all, arrival.waits);
  if (arrived == needed) {
    if (cta.races && arrival.passing != 0) cta.races->barrier_pass(id, warp, arrival.passing);
    warp.red_true[id] = state.true_predicates;
    warp.red_total[id] = state.arrived;
    cta.release_barrier(id);
  } else if (arrival.passing != 0) {
    warp.park(arrival.passing, warp.pc, {Wait::Kind::barrier, id, 0});
  }
}

/// bar.sync, bar.arrive, and the first part of bar.red. a: the barrier; b: the number of threads; c: the
/// predicate of bar.red. All lanes of the warp execute the same instruction.
void aligned_barrier(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  const bool passes = (op.aux & waits) != 0;
  arrive_at_barrier(warp, request_of(warp, op, first_lane(mask)),
                    {mask, passes ? mask : 0, passes, count_of(mask & read_mask(warp, op.c))});
}

/// barrier.sync, barrier.arrive, and the first part of barrier.red, all without .aligned. Lanes of a warp may
/// arrive one by one, at one instruction or at several. The warp arrives when its last lane has come.
void barrier(Warp& warp, const MicroOp& op, Mask mask) {
  const auto request_of_lane = [&](std::uint32_t lane) { return request_of(warp, op, lane); };
  for_alike(mask, request_of_lane, [&](const BarrierRequest& request, Mask same) {
    const std::uint32_t id = request.first;
    if (id >= warp.cta->barriers.size())
      warp.fail(first_lane(same), "barrier.operand", fmt::format("barrier {}", id));
    const bool passes = (op.aux & waits) != 0;
    WarpArrival arrival{same, passes ? same : 0, passes, count_of(same & read_mask(warp, op.c))};
    const bool whole = assemble(warp, id, same, [&](Group& group) {
      const MicroOp& at = warp.program->code[group.pc];
      const std::uint32_t count = request_of(warp, at, first_lane(group.mask)).second;
      if (count != request.second) {
        warp.report(first_lane(same), "barrier.count",
                    fmt::format("barrier {} for {} threads, while other lanes of the warp are there for {}",
                                id, request.second, count));
      }
      const bool group_passes = (at.aux & waits) != 0;
      arrival.all |= group.mask;
      arrival.waits = arrival.waits && group_passes;
      arrival.true_predicates += count_of(group.mask & read_mask(warp, at.c));
      group.wait = group_passes ? Wait{Wait::Kind::barrier, id, 0} : Wait{};
      ++group.pc;
    });
    if (whole) arrive_at_barrier(warp, request, arrival);
  });
}

/// The second part of bar.red at barrier a. d: with `number`, the number of threads with a true predicate
/// (.popc); else a predicate, which is true if all (.and) or any (.or) threads have a true predicate.
template <bool number, bool all = false>
void barrier_result(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint32_t id = get<std::uint32_t>(warp.registers + op.a, lane) % 16;
    const std::uint32_t count_true = warp.red_true[id];
    if constexpr (number) {
      put(warp.registers + op.d, lane, count_true);
    } else {
      write_lane(warp, op.d, lane, all ? count_true == warp.red_total[id] : count_true != 0);
    }
  });
}

void fence_async(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->fence_async(warp.thread(lane)); });
  if (warp.cta->races) warp.cta->races->fence_async(warp, mask);
}

void fence_mbarriers(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->fence_mbarriers(warp.thread(lane)); });
  // The fence releases the init, so a relaxed arrival at the cluster's barrier publishes it. The simulator
  // lets the fence release all earlier accesses of the thread, too.
  if (warp.cta->races) warp.cta->races->fence(warp, mask, {});
}

/// A fence. aux: 1 at CTA scope, plus 2 if it is sequentially consistent.
void fence(Warp& warp, const MicroOp& op, Mask mask) {
  if (warp.cta->races) warp.cta->races->fence(warp, mask, {(op.aux & 1) != 0, (op.aux & 2) != 0});
}

// barrier.cluster waits for all lanes of the warp; with .aligned they must be at one instruction.

constexpr std::uint32_t relaxed_arrival = 1;
constexpr std::uint32_t aligned_arrival = 2;

/// barrier.cluster.arrive. aux: relaxed_arrival, aligned_arrival
void cluster_arrive(Warp& warp, const MicroOp& op, Mask mask) {
  const auto arrive = [&](const MicroOp& at, Mask arriving) {
    const Mask twice = (warp.cluster_arrived | warp.cluster_passed) & arriving;
    if (twice != 0) {
      warp.fail(first_lane(twice), "cluster-barrier.arrived-twice",
                "barrier.cluster.arrive by a thread that has not waited since it arrived");
    }
    if (warp.cta->races) warp.cta->races->cluster_arrive(warp, arriving, (at.aux & relaxed_arrival) == 0);
    warp.cta->cluster.arrive(warp, arriving);
  };
  const auto arrive_earlier_group = [&](Group& group) {
    arrive(warp.program->code[group.pc], group.mask);
    group.wait = {};
    ++group.pc;
  };
  const bool is_aligned = (op.aux & aligned_arrival) != 0;
  if (is_aligned ? warp.gather(mask) : assemble(warp, cluster_arrival, mask, arrive_earlier_group))
    arrive(op, mask);
}

/// barrier.cluster.wait. aux: 1 if it is .aligned
void cluster_wait(Warp& warp, const MicroOp& op, Mask mask) {
  const Mask absent = mask & ~(warp.cluster_arrived | warp.cluster_passed);
  if (absent != 0) {
    warp.fail(first_lane(absent), "cluster-barrier.not-arrived",
              "barrier.cluster.wait by a thread that has not arrived");
  }
  const auto pass = [&](Mask passing) {
    warp.cluster_passed &= ~passing;
    if (warp.cta->races) warp.cta->races->cluster_pass(warp, passing);
  };
  const bool passes = (warp.live & ~warp.cluster_passed) == 0;
  constexpr Wait for_cluster{Wait::Kind::cluster, 0, 0};
  const auto pass_earlier_group = [&](Group& group) {
    // Lanes that wait for the cluster execute the instruction again.
    group.wait = passes ? Wait{} : for_cluster;
    if (!passes) return;
    pass(group.mask);
    ++group.pc;
  };
  if (op.aux != 0 ? !warp.gather(mask) : !assemble(warp, cluster_waiting, mask, pass_earlier_group)) return;
  if (passes) {
    pass(mask);
  } else {
    warp.park(mask, warp.here(), for_cluster);
  }
}

/// Emits the arrival of bar or barrier{.aligned}. The barrier is operand `first`; with `count` the number of
/// threads is the next operand; `predicate` is the slot of bar.red's predicate. Returns the slot of the
/// barrier.
Slot emit_barrier(Decoder& d, std::size_t first, bool count, Slot predicate, std::uint32_t flags) {
  // bar is short for barrier….aligned.
  if (d.instruction().words().front() == "bar" || d.has("aligned")) flags |= aligned;
  if (count) flags |= counted;
  const Slot id = d.read(first, ScalarType::u32);
  const Handler handler = (flags & aligned) != 0 ? &aligned_barrier : &barrier;
  d.emit(handler, 0, id, count ? d.read(first + 1, ScalarType::u32) : 0, predicate, flags);
  return id;
}

/// bar.sync and bar.arrive.
void select_bar(Decoder& d) {
  emit_barrier(d, 0, d.args().size() > 1, true_slot, d.instruction().opcode == Opcode::bar_sync ? waits : 0);
}

/// bar.red d, a{, b}, p
void select_bar_red(Decoder& d) {
  const Slot predicate = d.read(d.args().back(), ScalarType::pred);
  const Slot id = emit_barrier(d, 1, d.args().size() > 3, predicate, waits);
  if (d.has("popc")) {
    d.emit(&barrier_result<true>, d.write(0, ScalarType::u32), id);
  } else {
    d.emit(d.has("and") ? &barrier_result<false, true> : &barrier_result<false>, d.write(0, ScalarType::pred),
           id);
  }
}

void select_fence(Decoder& d) {
  // Only the race detector needs fences: simulated memory is always as strong as the strongest fence
  // requires.
  d.program().orders_memory = true;
  // membar, and a fence without .acq_rel, .acquire or .release, are fence.sc.
  const bool sequential = !d.has("acq_rel") && !d.has("acquire") && !d.has("release");
  d.emit(&fence, 0, 0, 0, 0, (d.has("cta") ? 1U : 0U) | (sequential ? 2U : 0U));
}

/// The simulator ends each launch before it begins the next. It finds accesses that could be too early on a
/// GPU by comparison with the accesses of earlier launches (races/flights.cpp).
void select_griddepcontrol(Decoder& d) {
  if (d.has("wait")) {
    d.emit([](Warp& warp, const MicroOp&, Mask mask) {
      warp.cta->launch.waited = true;
      if (warp.cta->races != nullptr) warp.cta->races->wait_for_flights(warp, mask);
    });
  } else {
    d.emit([](Warp& warp, const MicroOp&, Mask) { warp.cta->launch.triggered = true; });
  }
}

void select_fence_proxy(Decoder& d) {
  if (d.has("tensormap::generic")) return select_map_fence(d);
  // Only fences that include shared memory have an effect: .async and .async.shared.
  d.emit(d.has("async") && !d.has("global") ? &fence_async : +[](Warp&, const MicroOp&, Mask) {});
}

constexpr Selector barrier_table[] = {
    {Opcode::bar_sync, &select_bar},
    {Opcode::bar_arrive, &select_bar},
    {Opcode::bar_red, &select_bar_red},
    {Opcode::barrier_cluster_arrive,
     [](Decoder& d) {
       d.emit(&cluster_arrive, 0, 0, 0, 0,
              (d.has("relaxed") ? relaxed_arrival : 0) | (d.has("aligned") ? aligned_arrival : 0));
     }},
    {Opcode::barrier_cluster_wait,
     [](Decoder& d) { d.emit(&cluster_wait, 0, 0, 0, 0, d.has("aligned") ? 1 : 0); }},
    {Opcode::membar, &select_fence},
    {Opcode::fence, &select_fence},
    {Opcode::fence_mbarrier_init, [](Decoder& d) { d.emit(&fence_mbarriers); }},
    {Opcode::fence_proxy, &select_fence_proxy},
    {Opcode::griddepcontrol, &select_griddepcontrol},
};

}  // namespace

constinit const Selectors barrier_selectors = barrier_table;

}  // namespace sim
TMAJIT_END
