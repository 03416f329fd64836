/// Asynchronous copies by single threads: cp.async, its groups and its arrival at an mbarrier (PTX
/// ISA 9.7.9.25.3); st.async and red.async into the shared memory of another CTA of the cluster
/// (9.7.9.12; 9.7.13, "red.async").
#include "sim/cta/cta.hpp"
#include "sim/instructions/select.hpp"

#include <cstring>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Makes the copy of a st.async or red.async, without its values: the destination, in shared memory of
/// `target`, and the mbarrier on which the copy completes.
Copy remote_copy(Warp& warp, std::uint32_t lane, const BulkOperands& operands, std::uint32_t bytes,
                 Cta*& target) {
  Cta& cta = *warp.cta;
  if (cta.cluster.size() == 1) {
    warp.fail(lane, "cluster.size", "an asynchronous store in a cluster of one CTA");
  }
  const Target to = resolve(warp, lane, Space::shared, address_of(warp, operands.destination, lane), bytes,
                            bytes, true, true);
  target = to.owner;
  Copy copy = issued_by(warp, lane);
  copy.bytes = bytes;
  copy.shared = to.offset;
  copy.barrier =
      completion_barrier(warp, lane, address_of(warp, operands.barrier, lane), true, *target).offset;
  return copy;
}

/// st.async. bulks[aux]: destination and mbarrier; accesses[b].values: the values to store.
template <typename T>
void store_async(Warp& warp, const MicroOp& op, Mask mask) {
  const auto& values = warp.program->accesses[op.b].values;
  const auto bytes = static_cast<std::uint32_t>(values.size() * sizeof(T));
  for_lanes(mask, [&](std::uint32_t lane) {
    Cta* target = nullptr;
    Copy copy = remote_copy(warp, lane, warp.program->bulks[op.aux], bytes, target);
    auto* to = reinterpret_cast<std::byte*>(copy.values.data());
    for (const Slot slot : values) {
      const T value = get<T>(warp.registers + slot, lane);
      std::memcpy(std::exchange(to, to + sizeof value), &value, sizeof value);
    }
    copy.deposit = [](std::byte* into, const Copy& from) {
      std::memcpy(into, from.values.data(), from.bytes);
    };
    target->engine.issue_load(copy, warp, lane);
  });
}

/// red.async. bulks[aux]: destination and mbarrier; a: the operand; c: the operation.
template <typename T>
void reduce_async(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    Cta* target = nullptr;
    Copy copy = remote_copy(warp, lane, warp.program->bulks[op.aux], sizeof(T), target);
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

/// Adds the destination and the mbarrier of a st.async or red.async to Program::bulks; returns their index.
std::uint32_t add_destination(Decoder& d) {
  // The forms without an mbarrier store to global memory; Hopper does not support them.
  if (!d.has("mbarrier::complete_tx::bytes")) d.unsupported();
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.barrier = d.address(d.arg(2), Space::shared);
  return d.add(std::move(operands));
}

void select_st_async(Decoder& d) {
  const std::uint32_t destination = add_destination(d);
  const ScalarType t = d.type();
  MemoryAccess values{.values = d.slots(d.arg(1), t, false)};
  const std::size_t count = values.values.size();
  if (count != d.instruction().vector_width() || count * ptx::bits_of(t) > 128) d.unsupported();
  d.emit(is_wide(t) ? &store_async<std::uint64_t> : &store_async<std::uint32_t>, 0, 0,
         d.add(std::move(values)), 0, destination);
}

void select_red_async(Decoder& d) {
  const std::optional<Atomic> operation = atomic_of(d.instruction());
  if (!operation) d.unsupported();
  const std::uint32_t destination = add_destination(d);
  const Slot a = d.read(1, d.type());
  const auto handler_of = []<typename T>(T) -> Handler { return &reduce_async<T>; };
  d.emit(with_int32_or_64(d.type(), handler_of), 0, a, 0, static_cast<Slot>(*operation), destination);
}

// cp.async.

/// cp.async. bulks[aux]: destination and source; a: bytes to read; c: bytes to write. b: 2 + the slot of the
/// ignore-src predicate, which if true makes the bytes to read 0; or 0 for none.
void copy(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = warp.program->bulks[op.aux];
  Cta& cta = *warp.cta;
  const std::uint32_t bytes = op.c;
  const Mask ignored = op.b == 0 ? 0 : read_mask(warp, op.b - 2);
  std::array<std::uint64_t, lanes> from{};
  std::array<std::uint64_t, lanes> into{};
  Mask reading = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    SmallCopy small;
    small.bytes = bytes;
    small.source_bytes = get<std::uint32_t>(warp.registers + op.a, lane);
    if (small.source_bytes > bytes) {
      warp.fail(lane, "copy.size",
                fmt::format("a cp.async of {} bytes that reads {}", bytes, small.source_bytes));
    }
    if ((ignored >> lane & 1) != 0) small.source_bytes = 0;
    const std::uint64_t to = address_of(warp, operands.destination, lane);
    small.global = address_of(warp, operands.source, lane);
    if (to % bytes != 0 || small.global % bytes != 0) {
      warp.fail(lane, "address.misaligned",
                fmt::format("a cp.async of {} bytes from {:#x} to {:#x}", bytes, small.global, to),
                fmt::format("addresses that are multiples of {}", bytes));
    }
    small.shared = reach_shared(warp, lane, to, bytes, false, true).offset;
    small.thread = warp.thread(lane);
    small.location = warp.location();
    cta.small_copies.issue(small, warp, lane);
    from[lane] = small.global;
    into[lane] = cta.in_cluster(small.shared);
    // A source outside all allocations is not recorded: it is reported when the copy reads.
    if (small.source_bytes == bytes && cta.global(small.global, bytes) != nullptr) reading |= 1U << lane;
  });
  if (!cta.races) return;
  // For the race detector the thread itself accesses both ranges at the issue: until the thread waits, no
  // other thread may make a conflicting access.
  if (reading != 0) cta.races->access(warp, {Memory::global, bytes, false, {}}, from, reading);
  cta.races->access(warp, {Memory::shared, bytes, true, {}}, into, mask);
}

void commit_small(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->small_copies.commit_group(warp.thread(lane)); });
}
/// cp.async.wait_group. aux: number of groups that may be pending.
void wait_small(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->small_copies.wait_group(warp.thread(lane), op.aux); });
}
void wait_all_small(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->small_copies.wait_all(warp.thread(lane)); });
}

/// cp.async.mbarrier.arrive. accesses[aux]: the mbarrier. `counted` (without .noinc): also increments the
/// pending count.
template <bool counted>
void arrive(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, warp.program->accesses[op.aux], lane);
    const SharedAddress at = completion_barrier(warp, lane, address, false, *warp.cta);
    if (counted) ++warp.cta->mbarrier(at.offset)->pending;
    if (warp.cta->races) warp.cta->races->mbarrier_arrive(warp, lane, at.owner->in_cluster(at.offset), true);
    warp.cta->small_copies.arrive_later(warp.thread(lane), at.offset, warp.location());
  });
  if (warp.cta->races) warp.cta->races->arrived(warp);
}

void select_cp_async(Decoder& d) {
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.source = d.address(d.arg(1), Space::global);
  const std::uint64_t bytes = d.literal(d.arg(2));
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (d.has("cg") && bytes != 16)) d.unsupported("this size");
  // If there is a cache policy, it is the last operand.
  const std::size_t count = d.args().size() - (d.has("L2::cache_hint") ? 1 : 0);
  Slot source_bytes = d.constant(bytes, false);
  Slot ignores = 0;
  if (count > 3) {
    if (d.arg(3).kind == Arg::Kind::predicate) {
      ignores = d.read(3, ScalarType::pred) + 2;
    } else {
      source_bytes = d.read(3, ScalarType::u32);
    }
  }
  d.emit(&copy, 0, source_bytes, ignores, static_cast<Slot>(bytes), d.add(std::move(operands)));
}

void select_cp_async_mbarrier_arrive(Decoder& d) {
  const std::uint32_t barrier = d.add(d.address(d.arg(0), Space::shared));
  d.emit(d.has("noinc") ? &arrive<false> : &arrive<true>, 0, 0, 0, 0, barrier);
}

constexpr Selector async_table[] = {
    {Opcode::cp_async, &select_cp_async},
    {Opcode::cp_async_commit_group, [](Decoder& d) { d.emit(&commit_small); }},
    {Opcode::cp_async_wait_group,
     [](Decoder& d) { d.emit(&wait_small, 0, 0, 0, 0, static_cast<std::uint32_t>(d.literal(d.arg(0)))); }},
    {Opcode::cp_async_wait_all, [](Decoder& d) { d.emit(&wait_all_small); }},
    {Opcode::cp_async_mbarrier_arrive, &select_cp_async_mbarrier_arrive},
    {Opcode::st_async, &select_st_async},
    {Opcode::red_async, &select_red_async},
};

}  // namespace

constinit const Selectors async_selectors = async_table;

}  // namespace sim
TMAJIT_END
