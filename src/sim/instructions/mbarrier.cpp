/// mbarriers: arrivals, transaction counts and waits (PTX ISA 9.7.13.15).
#include "sim/causes/causes.hpp"
#include "sim/instructions/select.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

// Limits of the transaction count and of the count of arrivals (PTX ISA, "mbarrier").
constexpr std::int64_t max_bytes = (1 << 20) - 1;
constexpr std::uint32_t max_arrivals = (1U << 20) - 1;

/// The CTA and the offset of the mbarrier whose address the lane has.
SharedAddress resolve_mbarrier(Warp& warp, const MemoryAccess& access, std::uint32_t lane) {
  const std::uint64_t address = address_of(warp, access, lane);
  if (address % 8 != 0 || !warp.cta->names_shared(address, 8))
    warp.fail(lane, "mbarrier.address", fmt::format("an mbarrier at shared address {:#x}", address));
  return reach_shared(warp, lane, address, 8, access.peers, true);
}

/// An initialised mbarrier and its position.
struct MbarrierAt {
  Cta* owner;            ///< the CTA whose shared memory holds it
  std::uint32_t offset;  ///< in the shared memory of `owner`
  Mbarrier* barrier;
};

MbarrierAt find_mbarrier(Warp& warp, const MemoryAccess& access, std::uint32_t lane) {
  const auto [owner, offset] = resolve_mbarrier(warp, access, lane);
  Mbarrier* const barrier = owner->mbarrier(offset);
  if (barrier == nullptr) {
    warp.fail(lane, "mbarrier.uninitialised",
              fmt::format("no mbarrier has been initialised at shared address {:#x}", offset + shared_base));
  }
  return {owner, offset, barrier};
}

void initialise(Warp& warp, const MicroOp& op, Mask mask) {
  Cta& cta = *warp.cta;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint32_t offset = resolve_mbarrier(warp, warp.program->accesses[op.aux], lane).offset;
    const auto arrivals = get<std::uint32_t>(warp.registers + op.a, lane);
    if (arrivals == 0 || arrivals > max_arrivals) {
      warp.fail(lane, "mbarrier.count", fmt::format("mbarrier.init with {} arrivals", arrivals));
    }
    for (std::uint32_t near = offset < 7 ? 0 : offset - 7; near < offset + 8; ++near) {
      if (cta.mbarrier(near) == nullptr) continue;
      warp.report(lane, "mbarrier.initialised-twice",
                  fmt::format("mbarrier.init at shared address {:#x}, where an mbarrier is in use",
                              offset + shared_base));
      break;
    }
    for (std::uint32_t i = 0; i < 8; ++i) {
      if ((cta.shadow()[offset + i] & (loading | storing)) == 0) continue;
      warp.fail(lane, "mbarrier.onto-copy",
                fmt::format("mbarrier.init at shared address {:#x}, which an asynchronous copy still uses",
                            offset + shared_base));
    }
    cta.make_mbarrier(offset) = {.expected = arrivals,
                                 .pending = arrivals,
                                 .location = warp.location(),
                                 .writer = cta.thread_tag(warp.thread(lane))};
    if (cta.races) cta.races->mbarrier_init(warp, lane, cta.in_cluster(offset));
    ++cta.changes;
  });
}

void invalidate(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint32_t offset = find_mbarrier(warp, warp.program->accesses[op.aux], lane).offset;
    if (warp.cta->races) warp.cta->races->mbarrier_use(warp, 1U << lane, warp.cta->in_cluster(offset), true);
    warp.cta->drop_mbarrier(offset);
  });
}

/// Adds `bytes` to the transaction count: bytes that the lane expects, or if negative, that it completes.
void add_bytes(Warp& warp, std::uint32_t lane, Mbarrier& barrier, std::int64_t bytes) {
  barrier.bytes += bytes;
  if (bytes > 0) {
    barrier.transactions.expect(*warp.cta, warp.thread(lane), warp.location(),
                                static_cast<std::uint64_t>(bytes));
  } else if (bytes < 0) {
    barrier.transactions.complete(*warp.cta, warp.thread(lane), warp.location(),
                                  static_cast<std::uint64_t>(-bytes));
  }
  if (barrier.bytes >= -max_bytes && barrier.bytes <= max_bytes) return;
  warp.fail(lane, "mbarrier.bytes-overflow", fmt::format("a transaction count of {} bytes", barrier.bytes));
}

/// The offset of another mbarrier, the last that the lane has waited for.
std::optional<std::uint32_t> other_wait(const Warp& warp, std::uint32_t lane, const MbarrierAt& at) {
  const auto last = warp.cta->last_wait(warp.thread(lane));
  return at.owner == warp.cta && last == at.offset ? std::nullopt : last;
}

const check::RuleId surplus_arrival("mbarrier.arrivals");

/// The mistake in the lane's wait for another mbarrier, which ended too early, so that the lane arrives
/// beyond the count.
std::optional<Cause> why_surplus(const Warp& warp, std::uint32_t lane, const MbarrierAt& at) {
  if (!other_wait(warp, lane, at)) return std::nullopt;
  return why_too_early(*warp.cta, warp.thread(lane), surplus_arrival);
}

/// Reports that the lane has arrived `count` times, which is beyond the count of the mbarrier. `before` is
/// the mbarrier's state before the arrival.
void report_surplus(Warp& warp, std::uint32_t lane, const MbarrierAt& at, const Mbarrier& before,
                    std::uint32_t count, const std::optional<Cause>& cause) {
  const std::string lacks =
      fmt::format("whose phase {} lacks {} of {}", before.phase, before.pending, before.expected);
  if (cause) {
    const std::uint32_t line = warp.program->locations[warp.location()].line;
    return report(*cause,
                  fmt::format("it arrives once too often at the mbarrier at {:#x} (PTX line {}), {}",
                              at.offset + shared_base, line, lacks),
                  surplus_arrival, line);
  }
  warp.report(
      lane, surplus_arrival,
      fmt::format("{} arrivals at the mbarrier at {:#x}, {}{}", count, at.offset + shared_base, lacks,
                  count == 0 || warp.cta->last_wait(warp.thread(lane))
                      ? ""
                      : ": the thread has not waited for any mbarrier, such as one that says that the "
                        "stage is free"));
}

/// Called before the lane arrives `count` times. Delays the arrival and returns true if it is beyond the
/// count, its cause is unknown, a load of the phase is in flight, and the CTA has made no other mistake. In
/// the meantime other threads read the loaded bytes, and arrive at the mbarrier for which the lane should
/// have waited. When the lane runs again, the arrival is reported with this mbarrier.
bool delay_surplus(Warp& warp, std::uint32_t lane, const MbarrierAt& at, std::uint32_t count) {
  Cta& cta = *warp.cta;
  const std::uint32_t thread = warp.thread(lane);
  const auto delayed = cta.surplus_arrivals.find(thread);
  if (delayed == cta.surplus_arrivals.end()) {
    if (count <= at.barrier->pending || cta.reported || !other_wait(warp, lane, at) ||
        !at.owner->engine.in_flight_to(at.offset) || why_surplus(warp, lane, at))
      return false;
    cta.surplus_arrivals.emplace(thread, *at.barrier);
    warp.park(1U << lane, warp.here(), {Wait::Kind::delayed, 0, 0});
    return true;
  }
  const Mbarrier before = delayed->second;
  cta.surplus_arrivals.erase(delayed);
  // A thread that has waited for the load since the arrival was delayed reads the loaded bytes.
  const auto& uses = at.barrier->uses.all();
  const auto reader = std::ranges::find_if(uses, [&](const auto& each) { return each.ended > before.phase; });
  const std::uint32_t last = *cta.last_wait(thread);
  const Mbarrier* const waited = cta.mbarrier(last);
  std::optional<Cause> cause;
  if (reader != uses.end() && waited != nullptr) {
    const auto number = static_cast<std::uint32_t>(reader - uses.begin());
    const std::uint32_t threads_each = cta.threads_each();
    cause = waits_elsewhere(cta, thread, last, *waited,
                            Reader{&cta.cluster.cta(number / threads_each), number % threads_each});
  }
  report_surplus(warp, lane, at, before, count, cause);
  if (cta.launch.continues_after(surplus_arrival->id)) return false;
  throw Stop{surplus_arrival->id};
}

void arrive_at(Warp& warp, std::uint32_t lane, const MbarrierAt& at, std::uint32_t count) {
  // After all arrivals, a phase with more bytes than it expects never ends.
  if (at.barrier->pending == 0 && at.barrier->bytes < 0) report_never_over(*at.owner, at.offset, *at.barrier);
  if (count > at.barrier->pending || count == 0) {
    report_surplus(warp, lane, at, *at.barrier, count,
                   count == 0 ? std::nullopt : why_surplus(warp, lane, at));
    if (warp.cta->launch.continues_after(surplus_arrival->id)) throw Skip{};
    throw Stop{surplus_arrival->id};
  }
  at.barrier->uses.arrive(warp.cta->number_of(warp.thread(lane)), warp.location(), at.barrier->phase);
  at.barrier->pending -= count;
  at.owner->settle(at.offset, *at.barrier);
}

/// Calls visit(Cta::in_cluster() offset, lanes) for each mbarrier whose address lanes of `mask` have.
template <typename Visit>
void for_each_barrier(Warp& warp, const MemoryAccess& access, Mask mask, const Visit& visit) {
  std::array<std::uint32_t, lanes> offsets;
  for_lanes(mask, [&](std::uint32_t lane) {
    const MbarrierAt at = find_mbarrier(warp, access, lane);
    offsets[lane] = at.owner->in_cluster(at.offset);
  });
  for_alike(
      mask, [&](std::uint32_t lane) { return offsets[lane]; }, visit);
}

/// Records a use of mbarriers for the race detector.
void record_use(Warp& warp, const MemoryAccess& access, Mask mask) {
  if (!warp.cta->races) return;
  for_each_barrier(warp, access, mask, [&](std::uint32_t mbarrier, Mask same) {
    warp.cta->races->mbarrier_use(warp, same, mbarrier);
  });
}

/// mbarrier.expect_tx or, with `sign` −1, mbarrier.complete_tx. a: bytes.
template <std::int64_t sign>
void expect(Warp& warp, const MicroOp& op, Mask mask) {
  if (warp.cta->cluster.delay_peer_access(warp, warp.program->accesses[op.aux], mask)) return;
  record_use(warp, warp.program->accesses[op.aux], mask);
  for_lanes(mask, [&](std::uint32_t lane) {
    const MbarrierAt at = find_mbarrier(warp, warp.program->accesses[op.aux], lane);
    add_bytes(warp, lane, *at.barrier, sign * std::int64_t{get<std::uint32_t>(warp.registers + op.a, lane)});
    at.owner->settle(at.offset, *at.barrier);
  });
}

/// An mbarrier state holds the phase from this bit on, and the pending arrivals in the bits below.
constexpr std::uint32_t phase_shift = 24;

/// The properties of an mbarrier.arrive.
enum Arrival : std::uint32_t {
  expects = 1,      ///< .expect_tx: the operand is a number of bytes, and the count of arrivals is 1
  drops = 2,        ///< arrive_drop: the thread does not take part in later phases
  no_complete = 4,  ///< .noComplete: the arrival must not complete the phase
  relaxed = 8,      ///< .relaxed: the arrival does not release
  asks_state = 16,  ///< has a result
};

/// mbarrier.arrive and arrive_drop. d: state; a: count or bytes; c: flags of Arrival.
void arrive(Warp& warp, const MicroOp& op, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  if (warp.cta->cluster.delay_peer_access(warp, access, mask)) return;
  Races* const races = warp.cta->races;
  record_use(warp, access, mask);
  for_lanes(mask, [&](std::uint32_t lane) {
    const MbarrierAt at = find_mbarrier(warp, access, lane);
    const auto operand = get<std::uint32_t>(warp.registers + op.a, lane);
    if ((op.c & asks_state) != 0 && at.owner != warp.cta) {
      warp.fail(lane, "mbarrier.remote-state",
                fmt::format("an arrival at an mbarrier of the CTA with rank {} asks for its state",
                            at.owner->rank));
    }
    put(warp.registers + op.d, lane,
        at.barrier->phase << phase_shift | static_cast<std::uint64_t>(at.barrier->pending));
    if ((op.c & no_complete) != 0 && std::int64_t{operand} >= at.barrier->pending) {
      warp.fail(lane, "mbarrier.arrivals",
                fmt::format("{} arrivals that must not complete the phase, of {} that it lacks", operand,
                            at.barrier->pending),
                "fewer arrivals than are pending for .noComplete", "arrive without .noComplete");
    }
    const std::uint32_t count = (op.c & expects) != 0 ? 1 : operand;
    if (delay_surplus(warp, lane, at, count)) return;
    if ((op.c & expects) != 0) add_bytes(warp, lane, *at.barrier, operand);
    if ((op.c & drops) != 0) at.barrier->expected -= std::min(count, at.barrier->expected);
    if (races != nullptr)
      races->mbarrier_arrive(warp, lane, at.owner->in_cluster(at.offset), (op.c & relaxed) == 0);
    arrive_at(warp, lane, at, count);
  });
  ++warp.sync_arrivals;
  if (races != nullptr) races->arrived(warp);
}

/// Whether a try_wait that would wait returns false instead, as if its time limit had expired. Each try_wait
/// fails so once before it succeeds, which detects a missing loop around it.
bool gives_up(Warp& warp) {
  if (warp.cta->launch.options.mode == SimOptions::Mode::early) return false;
  if (std::ranges::find(warp.gave_up, warp.here()) != warp.gave_up.end()) return false;
  warp.gave_up.push_back(warp.here());
  return true;
}

/// test_wait or, with `blocks`, try_wait. d: predicate; a: parity or state; c: 1 if relaxed. If the phase is
/// not complete, a try_wait waits for it; a test_wait returns false, and the lanes yield to other threads.
template <bool parity, bool blocks>
void wait(Warp& warp, const MicroOp& op, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  Mask done = 0;
  std::optional<Wait> reason;
  Mask same_phase = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    const MbarrierAt at = find_mbarrier(warp, access, lane);
    bool complete = false;
    std::uint32_t detail = 0;
    if constexpr (parity) {
      detail = get<std::uint32_t>(warp.registers + op.a, lane) & 1;
      complete = (at.barrier->phase & 1) != detail;
    } else {
      const auto state = get<std::uint64_t>(warp.registers + op.a, lane);
      detail = static_cast<std::uint32_t>(state >> phase_shift & 1);
      complete = at.barrier->phase > state >> phase_shift;
    }
    if (complete) {
      done |= 1U << lane;
      warp.cta->waited(warp, lane, at.offset, *at.barrier);
      return;
    }
    if (!reason) reason = Wait{Wait::Kind::mbarrier, at.offset, detail};
    if (reason->what == at.offset && reason->detail == detail) same_phase |= 1U << lane;
  });
  const Mask failed = mask & ~done;
  write_mask(warp, op.d, mask, done);
  if (warp.cta->races && done != 0) {
    for_each_barrier(warp, access, done, [&](std::uint32_t mbarrier, Mask same) {
      warp.cta->races->mbarrier_pass(warp, same, mbarrier, op.c == 0);
    });
  }
  if constexpr (blocks) {
    if (failed == 0) {
      std::erase(warp.gave_up, warp.here());
      return;
    }
    if (!warp.timed_out && gives_up(warp)) warp.timed_out = true;
  }
  if (failed == 0) return;
  if (blocks && !warp.timed_out) {
    // The instruction runs again when the lanes are woken. `same_phase` are the lanes that wait for one phase
    // of one mbarrier; the other lanes run it again at once.
    warp.park(same_phase, warp.here(), *reason);
    if (const Mask others = failed & ~same_phase; others != 0) warp.park(others, warp.here(), {});
    return;
  }
  warp.timed_out = false;
  warp.park(warp.active, warp.pc, {Wait::Kind::yielded, 0, 0});
}

constexpr auto pending_count = [](std::uint64_t state) { return state & ((1U << phase_shift) - 1); };

/// Adds operand `i`, the address of an mbarrier, to Program::accesses; returns its index. With `own` the
/// mbarrier must be in the CTA's own memory.
std::uint32_t add_barrier(Decoder& d, std::size_t i, bool own = false) {
  MemoryAccess access = d.address(d.arg(i), d.space());
  if (own) access.peers = false;
  return d.add(std::move(access));
}

void select_mbarrier_arrive(Decoder& d) {
  const std::uint32_t access = add_barrier(d, 1);
  const Slot operand = d.args().size() > 2 ? d.read(2, ScalarType::u32) : d.constant(1, false);
  std::uint32_t arrival = 0;
  if (d.has("noComplete")) {
    arrival = no_complete;
  } else if (d.has("expect_tx")) {
    arrival = expects;
  }
  if (d.instruction().opcode == Opcode::mbarrier_arrive_drop) arrival |= drops;
  if (d.has("relaxed")) arrival |= relaxed;
  if (d.arg(0).kind != Arg::Kind::sink) arrival |= asks_state;
  d.emit(&arrive, d.write(0, ScalarType::b64), operand, 0, arrival, access);
}

void select_mbarrier_wait(Decoder& d) {
  const bool parity = d.has("parity");
  const std::uint32_t access = add_barrier(d, 1, true);
  const Slot operand = d.read(2, parity ? ScalarType::u32 : ScalarType::b64);
  const auto handler_of = [](auto by_parity, auto blocks) -> Handler { return &wait<by_parity, blocks>; };
  d.emit(with_flags(handler_of, parity, d.instruction().opcode == Opcode::mbarrier_try_wait),
         d.write(0, ScalarType::pred), operand, 0, d.has("relaxed") ? 1 : 0, access);
}

/// Selects mbarrier.init, expect_tx and complete_tx, whose operand 1 is a number.
template <Handler handler, bool own>
void select_mbarrier_number(Decoder& d) {
  const Slot number = d.read(1, ScalarType::u32);
  d.emit(handler, 0, number, 0, 0, add_barrier(d, 0, own));
}

constexpr Selector mbarrier_table[] = {
    {Opcode::mbarrier_init, &select_mbarrier_number<&initialise, true>},
    {Opcode::mbarrier_inval, [](Decoder& d) { d.emit(&invalidate, 0, 0, 0, 0, add_barrier(d, 0, true)); }},
    {Opcode::mbarrier_expect_tx, &select_mbarrier_number<&expect<1>, false>},
    {Opcode::mbarrier_complete_tx, &select_mbarrier_number<&expect<-1>, false>},
    {Opcode::mbarrier_arrive, &select_mbarrier_arrive},
    {Opcode::mbarrier_arrive_drop, &select_mbarrier_arrive},
    {Opcode::mbarrier_test_wait, &select_mbarrier_wait},
    {Opcode::mbarrier_try_wait, &select_mbarrier_wait},
    {Opcode::mbarrier_pending_count,
     [](Decoder& d) {
       d.emit_as(&apply<pending_count, std::uint32_t, std::uint64_t>, {ScalarType::u32, ScalarType::b64});
     }},
};

}  // namespace

constinit const Selectors mbarrier_selectors = mbarrier_table;

}  // namespace sim
TMAJIT_END
