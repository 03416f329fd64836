/// Clusters: their barrier, addresses in other CTAs, and what is sent there (PTX ISA 9.7.9.12, 9.7.9.23 to
/// 9.7.9.25, 9.7.13.3, "red.async").
#include "sim/atomic.hpp"
#include "sim/cluster.hpp"
#include "sim/decode.hpp"
#include "sim/memory_access.hpp"

#include <bit>
#include <cstring>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

/// barrier.cluster waits for all threads of the warp.
bool converged(Warp& warp, Mask mask) {
  const Mask missing = warp.live & ~mask;
  if (missing == 0) return true;
  warp.park(mask, warp.here(), {Wait::Kind::warp, missing, 0});
  return false;
}

void arrive(Warp& warp, const MicroOp&, Mask mask) {
  if (!converged(warp, mask)) return;
  const Mask twice = (warp.cluster_arrived | warp.cluster_passed) & mask;
  if (twice != 0) {
    warp.cta->fail(warp, static_cast<std::uint32_t>(std::countr_zero(twice)), "cluster-barrier.arrived-twice",
                   "barrier.cluster.arrive by a thread that has not waited since it arrived",
                   "barrier.cluster.wait after each barrier.cluster.arrive", "pair arrivals and waits");
  }
  if (warp.cta->races) warp.cta->races->barrier_arrive(Races::cluster_barrier, warp, mask, false);
  warp.cta->cluster.arrive(warp, mask);
}

void wait(Warp& warp, const MicroOp&, Mask mask) {
  if (!converged(warp, mask)) return;
  const Mask absent = mask & ~(warp.cluster_arrived | warp.cluster_passed);
  if (absent != 0) {
    warp.cta->fail(warp, static_cast<std::uint32_t>(std::countr_zero(absent)), "cluster-barrier.not-arrived",
                   "barrier.cluster.wait by a thread that has not arrived",
                   "barrier.cluster.arrive before barrier.cluster.wait", "pair arrivals and waits");
  }
  if ((mask & ~warp.cluster_passed) != 0) {
    warp.park(mask, warp.here(), {Wait::Kind::cluster, 0, 0});
    return;
  }
  warp.cluster_passed &= ~mask;
  if (warp.cta->races) warp.cta->races->barrier_pass(Races::cluster_barrier, warp, mask);
}

/// d: address in the CTA whose rank is b, of the address a; T is its type.
template <typename T>
void map_address(Warp& warp, const MicroOp& op, Mask mask) {
  const std::uint32_t size = warp.cta->cluster.size();
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto rank = get<std::uint32_t>(warp.registers + op.b, lane);
    if (rank >= size) {
      warp.cta->fail(warp, lane, "shared.cluster-rank", fmt::format("mapa to the CTA with rank {}", rank),
                     fmt::format("a rank below %cluster_nctarank, which is {}", size),
                     "check the rank, and the cluster's dimensions of the launch");
    }
    put(warp.registers + op.d, lane, static_cast<T>(map_to_rank(get<T>(warp.registers + op.a, lane), rank)));
  });
}

template <typename T>
void rank_of(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto named = static_cast<std::uint32_t>(get<T>(warp.registers + op.a, lane) >> rank_shift & 0xff);
    put(warp.registers + op.d, lane, named == 0 ? warp.cta->rank : named - 1);
  });
}

/// What st.async and red.async share: where the bytes go, and the mbarrier they complete on.
Copy sent(Warp& warp, std::uint32_t lane, const BulkOperands& operands, std::uint32_t bytes, Cta*& target) {
  Cta& cta = *warp.cta;
  if (cta.cluster.size() == 1) {
    cta.fail(warp, lane, "cluster.size", "an asynchronous store in a cluster of one CTA",
             "%cluster_nctarank above 1 (PTX ISA, \"st.async\")", "launch with a cluster of several CTAs");
  }
  const Target to = resolve(warp, lane, Space::shared, address_of(warp, operands.destination, lane), bytes,
                            bytes, true, true);
  target = to.owner;
  Copy copy;
  copy.bytes = bytes;
  copy.shared = to.offset;
  copy.thread = warp.index * lanes + lane;
  copy.place = warp.program->places[warp.here()];
  copy.issuer = &cta;
  copy.barrier =
      completion_barrier(warp, lane, address_of(warp, operands.barrier, lane), true, *target).offset;
  return copy;
}

/// accesses[b].values: what is stored.
template <typename T, std::uint32_t count>
void store_async(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    Cta* target = nullptr;
    Copy copy = sent(warp, lane, warp.program->bulks[op.aux], count * sizeof(T), target);
    std::array<T, count> values{};
    for (std::uint32_t i = 0; i < count; ++i)
      values[i] = get<T>(warp.registers + warp.program->accesses[op.b].values[i], lane);
    std::memcpy(copy.values.data(), values.data(), sizeof values);
    copy.deposit = [](std::byte* to, const Copy& from) { std::memcpy(to, from.values.data(), from.bytes); };
    target->engine.issue_load(copy, warp, lane);
  });
}

template <typename T>
void reduce_async(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    Cta* target = nullptr;
    Copy copy = sent(warp, lane, warp.program->bulks[op.aux], sizeof(T), target);
    copy.values = {static_cast<std::uint64_t>(get<T>(warp.registers + op.a, lane)), op.c};
    copy.reduces = true;
    copy.deposit = [](std::byte* to, const Copy& from) {
      T value;
      std::memcpy(&value, to, sizeof value);
      value = combine(static_cast<Atomic>(from.values[1]), value, static_cast<T>(from.values[0]), T{});
      std::memcpy(to, &value, sizeof value);
    };
    target->engine.issue_load(copy, warp, lane);
  });
}

/// cp.async.bulk.shared::cluster.shared::cta
void copy_to_peer(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = warp.program->bulks[op.aux];
  Cta& cta = *warp.cta;
  for_lanes(mask, [&](std::uint32_t lane) {
    Copy copy;
    copy.bytes = get<std::uint32_t>(warp.registers + operands.bytes, lane);
    const std::uint64_t to = address_of(warp, operands.destination, lane);
    const std::uint64_t from = address_of(warp, operands.source, lane);
    if (to % 16 != 0 || from % 16 != 0 || copy.bytes % 16 != 0) {
      cta.fail(
          warp, lane, "copy.shared-alignment",
          fmt::format("a bulk copy of {} bytes from shared address {:#x} to {:#x}", copy.bytes, from, to),
          "multiples of 16", "align both buffers, and copy whole chunks of 16 bytes");
    }
    const SharedPlace source = reach_shared(warp, lane, from, copy.bytes, false, false);
    const SharedPlace target = reach_shared(warp, lane, to, copy.bytes, true, true);
    if (target.owner == &cta) {
      cta.fail(warp, lane, "copy.own-cta", "a bulk copy from shared memory to that of the same CTA",
               "a destination in another CTA of the cluster (PTX ISA, \"cp.async.bulk\")",
               "map the destination to a peer, or copy with threads");
    }
    copy.shared = target.offset;
    copy.source = &cta;
    copy.source_offset = source.offset;
    copy.issuer = &cta;
    copy.thread = warp.index * lanes + lane;
    copy.place = warp.program->places[warp.here()];
    copy.barrier =
        completion_barrier(warp, lane, address_of(warp, operands.barrier, lane), true, *target.owner).offset;
    cta.engine.begin_read(copy, warp, lane);
    target.owner->engine.issue_load(copy, warp, lane);
  });
}

std::uint32_t add_bulk(Decoder& d, BulkOperands operands) {
  d.program().bulks.push_back(std::move(operands));
  return static_cast<std::uint32_t>(d.program().bulks.size() - 1);
}

bool emit_store_async(Decoder& d) {
  if (!d.has("mbarrier::complete_tx::bytes")) return false;  // to global memory: not on Hopper
  const ScalarType t = d.type();
  const bool wide = ptx::bits_of(t) == 64;
  MemoryAccess values;
  if (d.arg(1).kind == Arg::Kind::group) {
    for (const Arg& element : d.arg(1).elements) values.values.push_back(d.read(element, t));
  } else {
    values.values.push_back(d.read(d.arg(1), t));
  }
  const std::size_t count = values.values.size();
  const Handler handler = wide ? (count == 1   ? &store_async<std::uint64_t, 1>
                                  : count == 2 ? &store_async<std::uint64_t, 2>
                                               : nullptr)
                               : (count == 1   ? &store_async<std::uint32_t, 1>
                                  : count == 2 ? &store_async<std::uint32_t, 2>
                                  : count == 4 ? &store_async<std::uint32_t, 4>
                                               : nullptr);
  if (handler == nullptr || count != d.in().vector_width()) return false;
  d.program().accesses.push_back(std::move(values));
  const auto index = static_cast<std::uint32_t>(d.program().accesses.size() - 1);
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.barrier = d.address(d.arg(2), Space::shared);
  d.emit(handler, 0, 0, index, 0, add_bulk(d, std::move(operands)));
  return true;
}

bool emit_reduce_async(Decoder& d) {
  const auto what = atomic_of(d.in());
  if (!what || !d.has("mbarrier::complete_tx::bytes")) return false;
  const ScalarType t = d.type();
  Handler handler = nullptr;
  switch (t) {
    case ScalarType::b32:
    case ScalarType::u32: handler = &reduce_async<std::uint32_t>; break;
    case ScalarType::s32: handler = &reduce_async<std::int32_t>; break;
    case ScalarType::u64: handler = &reduce_async<std::uint64_t>; break;
    case ScalarType::s64: handler = &reduce_async<std::int64_t>; break;
    default: return false;
  }
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.barrier = d.address(d.arg(2), Space::shared);
  const Slot a = d.read(d.arg(1), t);
  d.emit(handler, 0, a, 0, static_cast<Slot>(*what), add_bulk(d, std::move(operands)));
  return true;
}

bool emit_copy_to_peer(Decoder& d) {
  const auto spaces = d.in().spaces();
  if (spaces.size() != 2 || spaces[0] != ptx::StateSpace::shared_cluster ||
      spaces[1] != ptx::StateSpace::shared_cta) {
    return false;
  }
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.source = d.address(d.arg(1), Space::shared);
  operands.bytes = d.read(d.arg(2), ScalarType::u32);
  operands.barrier = d.address(d.arg(3), Space::shared);
  d.emit(&copy_to_peer, 0, 0, 0, 0, add_bulk(d, std::move(operands)));
  return true;
}

}  // namespace

bool select_cluster(Decoder& d) {
  switch (d.in().opcode) {
    case Opcode::barrier_cluster_arrive: d.emit(&arrive); return true;
    case Opcode::barrier_cluster_wait: d.emit(&wait); return true;
    case Opcode::mapa: {
      const ScalarType t = d.type();
      const Slot a = d.read(d.arg(1), t);
      const Slot rank = d.read(d.arg(2), ScalarType::u32);
      d.emit(t == ScalarType::u64 ? &map_address<std::uint64_t> : &map_address<std::uint32_t>,
             d.write(d.arg(0), t), a, rank);
      return true;
    }
    case Opcode::getctarank: {
      const ScalarType t = d.type();
      const Slot a = d.read(d.arg(1), t);
      d.emit(t == ScalarType::u64 ? &rank_of<std::uint64_t> : &rank_of<std::uint32_t>,
             d.write(d.arg(0), ScalarType::u32), a);
      return true;
    }
    case Opcode::st_async: return emit_store_async(d);
    case Opcode::red_async: return emit_reduce_async(d);
    case Opcode::cp_async_bulk: return emit_copy_to_peer(d);
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
