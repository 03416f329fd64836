/// cp.async, its groups, and its arrival at an mbarrier (PTX ISA 9.7.9.25.3).
#include "sim/decode.hpp"
#include "sim/memory_access.hpp"

#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

/// bulks[aux]: destination, source; a: bytes that are read, c: those that are written; b: a predicate that
/// makes them none, plus 2, or 0.
void copy(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = warp.program->bulks[op.aux];
  Cta& cta = *warp.cta;
  const std::uint32_t bytes = op.c;
  const Slot ignores = op.b - 2;
  const Mask ignored = op.b == 0 ? 0 : predicate(warp, ignores & ~1U) ^ (0U - (ignores & 1U));
  std::array<std::uint64_t, lanes> from{};
  std::array<std::uint64_t, lanes> into{};
  Mask reading = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    SmallCopy small;
    small.bytes = bytes;
    small.given = get<std::uint32_t>(warp.registers + op.a, lane);
    if (small.given > bytes) {
      cta.fail(warp, lane, "copy.size",
               fmt::format("a cp.async of {} bytes that reads {}", bytes, small.given),
               "a source size of at most the size of the copy", "clip the size that is read");
    }
    if ((ignored >> lane & 1) != 0) small.given = 0;
    const std::uint64_t to = address_of(warp, operands.destination, lane);
    small.global = address_of(warp, operands.source, lane);
    if (to % bytes != 0 || small.global % bytes != 0) {
      cta.fail(warp, lane, "address.misaligned",
               fmt::format("a cp.async of {} bytes from {:#x} to {:#x}", bytes, small.global, to),
               fmt::format("addresses that are multiples of {}", bytes),
               "check the base's alignment and the index");
    }
    small.shared = reach_shared(warp, lane, to, bytes, false, true).offset;
    small.thread = warp.index * lanes + lane;
    small.place = warp.program->places[warp.here()];
    cta.small_copies.issue(small, warp, lane);
    from[lane] = small.global;
    into[lane] = small.shared;
    // One outside of all allocations is reported when the copy reads.
    if (small.given == bytes && cta.global(small.global, bytes) != nullptr) reading |= 1U << lane;
  });
  if (!cta.races) return;
  // The thread's own accesses, at the latest when it waits: nobody else may have touched either since.
  if (reading != 0) cta.races->access(warp, {Memory::global, bytes, false, {}}, from, reading);
  cta.races->access(warp, {Memory::shared, bytes, true, {}}, into, mask);
}

void commit(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask,
            [&](std::uint32_t lane) { warp.cta->small_copies.commit_group(warp.index * lanes + lane); });
}
/// aux: groups that may be pending.
void wait_group(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    warp.cta->small_copies.wait_group(warp.index * lanes + lane, op.aux);
  });
}
void wait_all(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->small_copies.wait_all(warp.index * lanes + lane); });
}

/// aux: the mbarrier; counted: the arrival is one that the phase did not know of.
template <bool counted>
void arrive(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, warp.program->accesses[op.aux], lane);
    const SharedPlace at = completion_barrier(warp, lane, address, false, *warp.cta);
    if (counted) ++warp.cta->mbarrier(at.offset)->pending;
    if (warp.cta->races) warp.cta->races->mbarrier_arrive(warp, lane, at.offset, true);
    warp.cta->small_copies.arrive_later(warp.index * lanes + lane, at.offset,
                                        warp.program->places[warp.here()]);
  });
  if (warp.cta->races) warp.cta->races->arrived(warp);
}

bool emit_copy(Decoder& d) {
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.source = d.address(d.arg(1), Space::global);
  const std::uint64_t bytes = d.literal(d.arg(2));
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (d.has("cg") && bytes != 16)) d.unsupported("this size");
  // The last operand is the cache policy where one is named.
  const std::size_t count = d.args().size() - (d.has("L2::cache_hint") ? 1 : 0);
  Slot given = d.constant(bytes, false);
  Slot ignores = 0;
  if (count > 3) {
    if (d.arg(3).kind == Arg::Kind::predicate) {
      ignores = d.read_predicate(d.arg(3)) + 2;
    } else {
      given = d.read(d.arg(3), ScalarType::u32);
    }
  }
  d.program().bulks.push_back(std::move(operands));
  d.emit(&copy, 0, given, ignores, static_cast<Slot>(bytes),
         static_cast<std::uint32_t>(d.program().bulks.size() - 1));
  return true;
}

}  // namespace

bool select_small_copies(Decoder& d) {
  switch (d.in().opcode) {
    case Opcode::cp_async: return emit_copy(d);
    case Opcode::cp_async_commit_group: d.emit(&commit); return true;
    case Opcode::cp_async_wait_group:
      d.emit(&wait_group, 0, 0, 0, 0, static_cast<std::uint32_t>(d.literal(d.arg(0))));
      return true;
    case Opcode::cp_async_wait_all: d.emit(&wait_all); return true;
    case Opcode::cp_async_mbarrier_arrive:
      d.program().accesses.push_back(d.address(d.arg(0), Space::shared));
      d.emit(d.has("noinc") ? &arrive<false> : &arrive<true>, 0, 0, 0, 0,
             static_cast<std::uint32_t>(d.program().accesses.size() - 1));
      return true;
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
