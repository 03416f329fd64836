/// mbarriers (PTX ISA 9.7.13.15).
#include "sim/cluster.hpp"
#include "sim/decode.hpp"
#include "sim/memory_access.hpp"

#include <algorithm>
#include <optional>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

constexpr std::int64_t most_bytes = (1 << 20) - 1;
constexpr std::uint32_t most_arrivals = (1U << 20) - 1;

/// The 8 bytes that the lane names.
SharedPlace place_of(Warp& warp, const MemoryAccess& access, std::uint32_t lane) {
  Cta& cta = *warp.cta;
  const std::uint64_t address = address_of(warp, access, lane);
  const auto own = cta.shared_offset(address, 8);
  if (address % 8 != 0 || (!own && !cta.is_peer_address(address, Space::shared))) {
    cta.fail(warp, lane, "mbarrier.address", fmt::format("an mbarrier at shared address {:#x}", address),
             "8 bytes of the CTA's shared memory at a multiple of 8", "check the address of the barrier");
  }
  return own ? SharedPlace{&cta, *own} : reach_shared(warp, lane, address, 8, access.peers, true);
}

struct Found {
  Cta* owner;
  std::uint32_t offset;
  Mbarrier* barrier;
};

Found find(Warp& warp, const MemoryAccess& access, std::uint32_t lane) {
  const auto [owner, offset] = place_of(warp, access, lane);
  Mbarrier* const barrier = owner->mbarrier(offset);
  if (barrier == nullptr) {
    warp.cta->fail(
        warp, lane, "mbarrier.uninitialised",
        fmt::format("no mbarrier has been initialised at shared address {:#x}", offset + shared_base),
        "mbarrier.init before any other use",
        "initialise it in one thread, fence, and synchronise the CTA before others use it");
  }
  return {owner, offset, barrier};
}

void initialise(Warp& warp, const MicroOp& op, Mask mask) {
  Cta& cta = *warp.cta;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint32_t offset = place_of(warp, warp.program->accesses[op.aux], lane).offset;
    const auto arrivals = get<std::uint32_t>(warp.registers + op.a, lane);
    if (arrivals == 0 || arrivals > most_arrivals) {
      cta.fail(warp, lane, "mbarrier.count", fmt::format("mbarrier.init with {} arrivals", arrivals),
               "1 to 2^20 - 1 arrivals", "count the threads that arrive in a phase");
    }
    for (std::uint32_t near = offset < 7 ? 0 : offset - 7; near < offset + 8; ++near) {
      if (cta.mbarrier(near) == nullptr) continue;
      cta.report(warp, lane, "mbarrier.initialised-twice",
                 fmt::format("mbarrier.init at shared address {:#x}, where an mbarrier is in use",
                             offset + shared_base),
                 "mbarrier.inval before the memory is initialised again",
                 "one thread initialises each barrier once");
      break;
    }
    for (std::uint32_t i = 0; i < 8; ++i) {
      if ((cta.shadow()[offset + i] & (loading | storing)) == 0) continue;
      cta.fail(warp, lane, "mbarrier.onto-copy",
               fmt::format("mbarrier.init at shared address {:#x}, which an asynchronous copy still uses",
                           offset + shared_base),
               "memory of its own for each mbarrier", "check the layout of shared memory");
    }
    cta.make_mbarrier(offset) = {.expected = arrivals,
                                 .pending = arrivals,
                                 .bytes = 0,
                                 .phase = 0,
                                 .place = cta.program.places[warp.here()],
                                 .writer = cta.thread_tag(warp.index * lanes + lane),
                                 .fenced = false};
    ++cta.changes;
  });
}

void invalidate(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    warp.cta->drop_mbarrier(find(warp, warp.program->accesses[op.aux], lane).offset);
  });
}

void add_bytes(Warp& warp, std::uint32_t lane, Mbarrier& barrier, std::int64_t bytes) {
  barrier.bytes += bytes;
  if (barrier.bytes >= -most_bytes && barrier.bytes <= most_bytes) return;
  warp.cta->fail(warp, lane, "mbarrier.bytes-overflow",
                 fmt::format("a transaction count of {} bytes", barrier.bytes), "a count within ±(2^20 - 1)",
                 "load less in one phase");
}

void arrive_at(Warp& warp, std::uint32_t lane, const Found& at, std::uint32_t count) {
  if (count > at.barrier->pending || count == 0) {
    warp.cta->fail(
        warp, lane, "mbarrier.arrivals",
        fmt::format("{} arrivals at the mbarrier at {:#x}, whose phase {} lacks {} of {}", count,
                    at.offset + shared_base, at.barrier->phase, at.barrier->pending, at.barrier->expected),
        "as many arrivals a phase as mbarrier.init said", "check who arrives, and how often");
  }
  at.barrier->pending -= count;
  at.owner->settle(at.offset, *at.barrier);
}

/// a: bytes; not an arrival. With `sign` −1 complete_tx.
template <std::int64_t sign>
void expect(Warp& warp, const MicroOp& op, Mask mask) {
  if (warp.cta->cluster.size() > 1 && warp.cta->cluster.hold(warp, warp.program->accesses[op.aux], mask))
    return;
  for_lanes(mask, [&](std::uint32_t lane) {
    const Found at = find(warp, warp.program->accesses[op.aux], lane);
    add_bytes(warp, lane, *at.barrier, sign * std::int64_t{get<std::uint32_t>(warp.registers + op.a, lane)});
    at.owner->settle(at.offset, *at.barrier);
  });
}

/// A state is the phase, and below it the arrivals that were pending.
constexpr std::uint32_t phase_shift = 24;

/// d: state, a: count or bytes, b: whether somebody asks for the state.
template <bool expects, bool drops, bool completes = true>
void arrive(Warp& warp, const MicroOp& op, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  if (warp.cta->cluster.size() > 1 && warp.cta->cluster.hold(warp, access, mask)) return;
  for_lanes(mask, [&](std::uint32_t lane) {
    const Found at = find(warp, access, lane);
    const auto operand = get<std::uint32_t>(warp.registers + op.a, lane);
    if (op.b != 0 && at.owner != warp.cta) {
      warp.cta->fail(
          warp, lane, "mbarrier.remote-state",
          fmt::format("an arrival at an mbarrier of the CTA with rank {} asks for its state", at.owner->rank),
          "_ as the destination where the mbarrier is not the CTA's own",
          "only threads of its own CTA can wait on an mbarrier");
    }
    put(warp.registers + op.d, lane,
        at.barrier->phase << phase_shift | static_cast<std::uint64_t>(at.barrier->pending));
    if (!completes && std::int64_t{operand} >= at.barrier->pending) {
      warp.cta->fail(warp, lane, "mbarrier.arrivals",
                     fmt::format("{} arrivals that must not complete the phase, of {} that it lacks", operand,
                                 at.barrier->pending),
                     "fewer arrivals than are pending for .noComplete", "arrive without .noComplete");
    }
    if (expects) add_bytes(warp, lane, *at.barrier, operand);
    const std::uint32_t count = expects ? 1 : operand;
    if (drops) at.barrier->expected -= std::min(count, at.barrier->expected);
    arrive_at(warp, lane, at, count);
  });
}

/// d: predicate, a: parity or state. A failed try_wait waits in the barrier's list; a failed test_wait lets
/// others go first.
template <bool parity, bool blocks>
void wait(Warp& warp, const MicroOp& op, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  Mask done = 0;
  std::optional<Wait> reason;
  Mask together = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    const Found at = find(warp, access, lane);
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
      return;
    }
    if (!reason) reason = Wait{Wait::Kind::mbarrier, at.offset, detail};
    if (reason->what == at.offset && reason->detail == detail) together |= 1U << lane;
  });
  const Mask failed = mask & ~done;
  Mask& p = predicate(warp, op.d);
  p = (p & ~mask) | done;
  if (failed == 0) return;
  if (blocks && !warp.timed_out) {
    // The instruction runs again when they are woken; lanes that wait for another phase look again first.
    warp.park(together, warp.here(), *reason);
    if (const Mask others = failed & ~together; others != 0) warp.park(others, warp.here(), {});
    return;
  }
  warp.timed_out = false;
  warp.park(warp.active, warp.pc, {Wait::Kind::yielded, 0, 0});
}

struct PendingCount {
  std::uint32_t operator()(std::uint64_t state) const {
    return static_cast<std::uint32_t>(state & ((1U << phase_shift) - 1));
  }
};

/// With `own` the barrier must be the CTA's own.
std::uint32_t add_access(Decoder& d, const Arg& arg, bool own = false) {
  d.program().accesses.push_back(d.address(arg, d.space()));
  if (own) d.program().accesses.back().peers = false;
  return static_cast<std::uint32_t>(d.program().accesses.size() - 1);
}

bool emit_arrive(Decoder& d, bool drops) {
  const bool expects = d.has("expect_tx");
  const std::uint32_t access = add_access(d, d.arg(1));
  const Slot operand = d.args().size() > 2 ? d.read(d.arg(2), ScalarType::u32) : d.constant(1, false);
  const Slot state = d.write(d.arg(0), ScalarType::b64);
  Handler handler = expects ? (drops ? &arrive<true, true> : &arrive<true, false>)
                            : (drops ? &arrive<false, true> : &arrive<false, false>);
  if (d.has("noComplete")) handler = drops ? &arrive<false, true, false> : &arrive<false, false, false>;
  d.emit(handler, state, operand, d.arg(0).kind == Arg::Kind::sink ? 0 : 1, 0, access);
  return true;
}

void emit_wait(Decoder& d, bool blocks) {
  const bool parity = d.has("parity");
  const std::uint32_t access = add_access(d, d.arg(1), true);
  const Slot operand = d.read(d.arg(2), parity ? ScalarType::u32 : ScalarType::b64);
  const Handler handler = parity ? (blocks ? &wait<true, true> : &wait<true, false>)
                                 : (blocks ? &wait<false, true> : &wait<false, false>);
  d.emit(handler, d.write_predicate(d.arg(0)), operand, 0, 0, access);
}

}  // namespace

bool select_mbarrier(Decoder& d) {
  const auto u32 = ScalarType::u32;
  switch (d.in().opcode) {
    case Opcode::mbarrier_init: {
      const Slot count = d.read(d.arg(1), u32);
      d.emit(&initialise, 0, count, 0, 0, add_access(d, d.arg(0), true));
      return true;
    }
    case Opcode::mbarrier_inval: d.emit(&invalidate, 0, 0, 0, 0, add_access(d, d.arg(0), true)); return true;
    case Opcode::mbarrier_expect_tx:
    case Opcode::mbarrier_complete_tx: {
      const Slot bytes = d.read(d.arg(1), u32);
      d.emit(d.in().opcode == Opcode::mbarrier_expect_tx ? &expect<1> : &expect<-1>, 0, bytes, 0, 0,
             add_access(d, d.arg(0)));
      return true;
    }
    case Opcode::mbarrier_arrive: return emit_arrive(d, false);
    case Opcode::mbarrier_arrive_drop: return emit_arrive(d, true);
    case Opcode::mbarrier_pending_count:
      d.emit(&apply<PendingCount, std::uint32_t, std::uint64_t>, d.write(d.arg(0), u32),
             d.read(d.arg(1), ScalarType::b64));
      return true;
    case Opcode::mbarrier_test_wait: emit_wait(d, false); return true;
    case Opcode::mbarrier_try_wait: emit_wait(d, true); return true;
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
