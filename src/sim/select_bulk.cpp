/// Asynchronous copies: cp.async, its groups and its arrival at an mbarrier (PTX ISA 9.7.9.25.3); bulk and
/// tensor copies (PTX ISA 9.7.9.25 to 9.7.9.28), and what a CTA sends into the shared memory of another of
/// its cluster: st.async, red.async, and cp.async.bulk from shared to shared memory
/// (9.7.9.12, 9.7.9.25, 9.7.13, "red.async").
#include "sim/cta.hpp"
#include "sim/select.hpp"

#include <cstring>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// The handler that calls each(warp, lane, operands) for the lanes of an instruction; bulks[aux]: the
/// operands.
template <auto each>
void by_lane(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = warp.program->bulks[op.aux];
  for_lanes(mask, [&](std::uint32_t lane) { each(warp, lane, operands); });
}

/// The shared range of a copy, aligned; reports and stops otherwise.
SharedPlace shared_range(Warp& warp, std::uint32_t lane, const MemoryAccess& access, std::uint32_t bytes,
                         std::uint32_t alignment) {
  const std::uint64_t address = address_of(warp, access, lane);
  if (!warp.cta->names_shared(address, bytes)) {
    warp.fail(lane, "shared.out-of-bounds",
              fmt::format("a bulk copy of {} bytes at shared address {:#x}", bytes, address),
              fmt::format("{} bytes from {:#x}", warp.cta->shared_bytes(), shared_base));
  }
  if (address % alignment != 0) {
    warp.fail(lane, "copy.shared-alignment", fmt::format("shared address {:#x}", address),
              fmt::format("a multiple of {}", alignment));
  }
  return reach_shared(warp, lane, address, bytes, access.peers, true);
}

TensorMap map_of(Warp& warp, std::uint32_t lane, const MemoryAccess& access) {
  Cta& cta = *warp.cta;
  const std::uint64_t address = address_of(warp, access, lane);
  std::uint64_t offset = address;
  if (const Space space = take_space(offset); space == Space::local || space == Space::shared) {
    warp.fail(lane, "tensormap.space",
              fmt::format("a tensor map at {:#x}, in local or shared memory", address));
  }
  const Target target = resolve(warp, lane, Space::generic, address, 128, 64, false);
  const std::optional<TensorMap> map = cta.launch.tensor_maps.decode(target.memory);
  if (!map) {
    warp.fail(lane, "tensormap.invalid",
              fmt::format("the 128 bytes at {:#x} are no tensor map of this device", address));
  }
  return *map;
}

/// A copy of which only the issuer is known.
Copy issued_by(const Warp& warp, std::uint32_t lane) {
  Copy copy;
  copy.thread = warp.thread(lane);
  copy.issuer = warp.cta;
  copy.place = warp.place();
  return copy;
}

/// The tile that a lane asks for.
Copy tensor_copy(Warp& warp, std::uint32_t lane, const BulkOperands& operands,
                 const MemoryAccess& map_access) {
  Copy copy = issued_by(warp, lane);
  copy.tensor = true;
  copy.map = map_of(warp, lane, map_access);
  const TensorMapSpec& spec = copy.map.spec;
  if (operands.coordinates.size() != spec.rank) {
    warp.fail(lane, "tensormap.rank",
              fmt::format("an instruction of {} dimensions on a map of {}", operands.coordinates.size(),
                          spec.rank));
  }
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    copy.origin[spec.rank - 1 - d] = get<std::int32_t>(warp.registers + operands.coordinates[d], lane);
  }
  if (spec.interleave == Interleave::none && copy.origin[spec.rank - 1U] * size_of(spec.type) % 16 != 0) {
    warp.fail(lane, "copy.inner-coordinate",
              fmt::format("innermost coordinate {} of {}-byte elements", copy.origin[spec.rank - 1U],
                          size_of(spec.type)));
  }
  copy.bytes = Tile(spec, copy.origin).bytes();
  return copy;
}

/// Shared address of a copy: of a tile aligned to 128, and to the swizzle's period.
SharedPlace place_of(Warp& warp, std::uint32_t lane, const Copy& copy, const MemoryAccess& access) {
  if (!copy.tensor) return shared_range(warp, lane, access, copy.bytes, 16);
  const Tile tile(copy.map.spec, copy.origin);
  const SharedPlace at = shared_range(warp, lane, access, tile.span(), 128);
  const std::uint32_t offset = at.offset;
  const std::uint32_t period = tile_layout(copy.map.spec).alignment;
  if (offset % period != 0) {
    warp.report(lane, "copy.swizzle-base",
                fmt::format("a swizzled tile at shared address {:#x}", offset + shared_base),
                fmt::format("a multiple of the swizzle's period, {} bytes", period));
  }
  return at;
}

/// The mbarrier that a load completes on, in the CTA that its bytes go to.
std::uint32_t barrier_offset(Warp& warp, std::uint32_t lane, const MemoryAccess& access, Cta& target) {
  const SharedPlace at = completion_barrier(warp, lane, address_of(warp, access, lane), access.peers, target);
  if (at.owner == warp.cta && !target.visible(*target.mbarrier(at.offset))) {
    warp.report(
        lane, "mbarrier.init-not-fenced",
        fmt::format("a load completes on the mbarrier at shared address {:#x}, whose mbarrier.init no fence "
                    "has made visible to the copy engine",
                    at.offset + shared_base));
  }
  return at.offset;
}

/// A one-dimensional copy without its shared and barrier offsets.
Copy bulk_copy(Warp& warp, std::uint32_t lane, const BulkOperands& operands, const MemoryAccess& global) {
  Copy copy = issued_by(warp, lane);
  copy.global = address_of(warp, global, lane);
  copy.bytes = get<std::uint32_t>(warp.registers + operands.bytes, lane);
  if (copy.global % 16 != 0 || copy.bytes % 16 != 0) {
    warp.fail(lane, "copy.global-alignment",
              fmt::format("a bulk copy of {} bytes at global address {:#x}", copy.bytes, copy.global));
  }
  return copy;
}

// `copy_of` is tensor_copy or bulk_copy.

template <auto copy_of>
void load(Warp& warp, std::uint32_t lane, const BulkOperands& operands) {
  Copy copy = copy_of(warp, lane, operands, operands.source);
  const SharedPlace to = place_of(warp, lane, copy, operands.destination);
  copy.shared = to.offset;
  copy.barrier = barrier_offset(warp, lane, operands.barrier, *to.owner);
  to.owner->engine.issue_load(copy, warp, lane);
}

template <auto copy_of>
void store(Warp& warp, std::uint32_t lane, const BulkOperands& operands) {
  Copy copy = copy_of(warp, lane, operands, operands.destination);
  for (std::uint32_t d = 0; d < copy.origin.size(); ++d) {
    if (copy.origin[d] >= 0) continue;
    warp.fail(lane, "store.negative-coordinate",
              fmt::format("a tensor store at coordinate {} in dimension {}", copy.origin[d], d));
  }
  copy.shared = place_of(warp, lane, copy, operands.source).offset;
  warp.cta->engine.issue_store(copy, warp, lane);
}

template <auto copy_of>
void prefetch(Warp& warp, std::uint32_t lane, const BulkOperands& operands) {
  (void)copy_of(warp, lane, operands, operands.source);
}

void map_prefetch(Warp& warp, std::uint32_t lane, const BulkOperands& operands) {
  (void)map_of(warp, lane, operands.source);
}

/// What st.async and red.async share: where the bytes go, and the mbarrier they complete on.
Copy sent(Warp& warp, std::uint32_t lane, const BulkOperands& operands, std::uint32_t bytes, Cta*& target) {
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

/// accesses[b].values: what is stored.
template <typename T>
void store_async(Warp& warp, const MicroOp& op, Mask mask) {
  const auto& values = warp.program->accesses[op.b].values;
  const auto bytes = static_cast<std::uint32_t>(values.size() * sizeof(T));
  for_lanes(mask, [&](std::uint32_t lane) {
    Cta* target = nullptr;
    Copy copy = sent(warp, lane, warp.program->bulks[op.aux], bytes, target);
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
void copy_to_peer(Warp& warp, std::uint32_t lane, const BulkOperands& operands) {
  Cta& cta = *warp.cta;
  Copy copy = issued_by(warp, lane);
  copy.bytes = get<std::uint32_t>(warp.registers + operands.bytes, lane);
  const std::uint64_t to = address_of(warp, operands.destination, lane);
  const std::uint64_t from = address_of(warp, operands.source, lane);
  if (to % 16 != 0 || from % 16 != 0 || copy.bytes % 16 != 0) {
    warp.fail(
        lane, "copy.shared-alignment",
        fmt::format("a bulk copy of {} bytes from shared address {:#x} to {:#x}", copy.bytes, from, to));
  }
  const SharedPlace source = reach_shared(warp, lane, from, copy.bytes, false, false);
  const SharedPlace target = reach_shared(warp, lane, to, copy.bytes, true, true);
  if (target.owner == &cta) {
    warp.fail(lane, "copy.own-cta", "a bulk copy from shared memory to that of the same CTA");
  }
  copy.shared = target.offset;
  copy.source = &cta;
  copy.source_offset = source.offset;
  copy.barrier =
      completion_barrier(warp, lane, address_of(warp, operands.barrier, lane), true, *target.owner).offset;
  cta.engine.begin_read(copy, warp, lane);
  target.owner->engine.issue_load(copy, warp, lane);
}

/// The operands that st.async and red.async share.
std::uint32_t add_destination(Decoder& d) {
  // Those without an mbarrier go to global memory: not on Hopper.
  if (!d.has("mbarrier::complete_tx::bytes")) d.unsupported();
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.barrier = d.address(d.arg(2), Space::shared);
  return d.add(std::move(operands));
}

/// Of the engine, or of cp.async.
template <auto copies>
void commit(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { (warp.cta->*copies).commit_group(warp.thread(lane)); });
}

/// a: groups that may be pending; aux: 1 for .read.
void wait_group(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    warp.cta->engine.wait_group(warp.thread(lane), get<std::uint32_t>(warp.registers + op.a, lane),
                                op.aux == 1);
  });
}

void emit_bulk(Decoder& d, Handler handler, BulkOperands operands) {
  d.emit(handler, 0, 0, 0, 0, d.add(std::move(operands)));
}

/// The coordinates behind a tensor map.
std::vector<Slot> coordinates(Decoder& d, const Arg& tensor) {
  std::vector<Slot> all;
  for (const Arg& coordinate : tensor.elements) {
    for (const Arg& each : elements(coordinate)) all.push_back(d.read(each, ScalarType::s32));
  }
  return all;
}

/// Refuses the modes of copies that the simulator does not run yet.
void refuse_modes(const Decoder& d) {
  for (const char* word : {"multicast::cluster", "im2col", "im2col_no_offs", "im2col::w", "im2col::w::128",
                           "tile::gather4", "tile::scatter4", "cp_mask", "cta_group::1", "cta_group::2"}) {
    if (d.has(word)) d.unsupported(fmt::format(".{}", word));
  }
}

void select_st_async(Decoder& d) {
  const std::uint32_t destination = add_destination(d);
  const ScalarType t = d.type();
  MemoryAccess values{.values = d.slots(d.arg(1), t, false)};
  const std::size_t count = values.values.size();
  if (count != d.in().vector_width() || count * ptx::bits_of(t) > 128) d.unsupported();
  d.emit(is_wide(t) ? &store_async<std::uint64_t> : &store_async<std::uint32_t>, 0, 0,
         d.add(std::move(values)), 0, destination);
}

void select_red_async(Decoder& d) {
  const std::optional<Atomic> what = atomic_of(d.in());
  if (!what) d.unsupported();
  const std::uint32_t destination = add_destination(d);
  const Slot a = d.read(1, d.type());
  const auto pick = []<typename T>(T) -> Handler { return &reduce_async<T>; };
  d.emit(with_int32_or_64(d.type(), pick), 0, a, 0, static_cast<Slot>(*what), destination);
}

void select_cp_async_bulk(Decoder& d) {
  refuse_modes(d);
  const auto spaces = d.in().spaces();
  if (spaces.size() != 2) d.unsupported();
  const bool loads = spaces[1] == StateSpace::global;
  const bool stores = spaces[0] == StateSpace::global;
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.source = d.address(d.arg(1), Space::shared);
  operands.bytes = d.read(2, ScalarType::u32);
  if (loads || !stores) operands.barrier = d.address(d.arg(3), Space::shared);
  if (loads || stores) operands.source.peers = false;
  emit_bulk(d,
            loads    ? &by_lane<load<bulk_copy>>
            : stores ? &by_lane<store<bulk_copy>>
                     : &by_lane<copy_to_peer>,
            std::move(operands));
}

void select_cp_async_bulk_prefetch(Decoder& d) {
  BulkOperands operands;
  operands.source = d.address(d.arg(0), Space::global);
  operands.bytes = d.read(1, ScalarType::u32);
  emit_bulk(d, &by_lane<prefetch<bulk_copy>>, std::move(operands));
}

void select_cp_async_bulk_tensor_load(Decoder& d) {
  refuse_modes(d);
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.source = d.address(d.arg(1), Space::generic);
  operands.barrier = d.address(d.arg(2), Space::shared);
  operands.coordinates = coordinates(d, d.arg(1));
  emit_bulk(d, &by_lane<load<tensor_copy>>, std::move(operands));
}

void select_cp_async_bulk_tensor_store(Decoder& d) {
  refuse_modes(d);
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::generic);
  operands.source = d.address(d.arg(1), Space::shared);
  operands.coordinates = coordinates(d, d.arg(0));
  emit_bulk(d, &by_lane<store<tensor_copy>>, std::move(operands));
}

void select_cp_async_bulk_prefetch_tensor(Decoder& d) {
  refuse_modes(d);
  BulkOperands operands;
  operands.source = d.address(d.arg(0), Space::generic);
  operands.coordinates = coordinates(d, d.arg(0));
  emit_bulk(d, &by_lane<prefetch<tensor_copy>>, std::move(operands));
}

void select_prefetch_tensormap(Decoder& d) {
  BulkOperands operands;
  operands.source = d.address(d.arg(0), Space::generic);
  // A map named in .param or .const space lies in its window.
  operands.source.offset += static_cast<std::int64_t>(window_of(d.space()));
  emit_bulk(d, &by_lane<map_prefetch>, std::move(operands));
}

void select_cp_async_bulk_wait_group(Decoder& d) {
  d.emit(&wait_group, 0, d.constant(d.literal(d.arg(0)), false), 0, 0, d.has("read") ? 1 : 0);
}

// cp.async.

/// bulks[aux]: destination, source; a: bytes that are read, c: those that are written; b: a predicate that
/// makes them none, plus 2, or 0.
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
    small.given = get<std::uint32_t>(warp.registers + op.a, lane);
    if (small.given > bytes) {
      warp.fail(lane, "copy.size", fmt::format("a cp.async of {} bytes that reads {}", bytes, small.given));
    }
    if ((ignored >> lane & 1) != 0) small.given = 0;
    const std::uint64_t to = address_of(warp, operands.destination, lane);
    small.global = address_of(warp, operands.source, lane);
    if (to % bytes != 0 || small.global % bytes != 0) {
      warp.fail(lane, "address.misaligned",
                fmt::format("a cp.async of {} bytes from {:#x} to {:#x}", bytes, small.global, to),
                fmt::format("addresses that are multiples of {}", bytes));
    }
    small.shared = reach_shared(warp, lane, to, bytes, false, true).offset;
    small.thread = warp.thread(lane);
    small.place = warp.place();
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

/// aux: groups that may be pending.
void wait_small(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->small_copies.wait_group(warp.thread(lane), op.aux); });
}
void wait_all_small(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->small_copies.wait_all(warp.thread(lane)); });
}

/// aux: the mbarrier; counted: the arrival is one that the phase did not know of.
template <bool counted>
void arrive(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, warp.program->accesses[op.aux], lane);
    const SharedPlace at = completion_barrier(warp, lane, address, false, *warp.cta);
    if (counted) ++warp.cta->mbarrier(at.offset)->pending;
    if (warp.cta->races) warp.cta->races->mbarrier_arrive(warp, lane, at.offset, true);
    warp.cta->small_copies.arrive_later(warp.thread(lane), at.offset, warp.place());
  });
  if (warp.cta->races) warp.cta->races->arrived(warp);
}

void select_cp_async(Decoder& d) {
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
      ignores = d.read(3, ScalarType::pred) + 2;
    } else {
      given = d.read(3, ScalarType::u32);
    }
  }
  d.emit(&copy, 0, given, ignores, static_cast<Slot>(bytes), d.add(std::move(operands)));
}

void select_cp_async_mbarrier_arrive(Decoder& d) {
  const std::uint32_t barrier = d.add(d.address(d.arg(0), Space::shared));
  d.emit(d.has("noinc") ? &arrive<false> : &arrive<true>, 0, 0, 0, 0, barrier);
}

constexpr Selector table[] = {
    {Opcode::cp_async, &select_cp_async},
    {Opcode::cp_async_commit_group, [](Decoder& d) { d.emit(&commit<&Cta::small_copies>); }},
    {Opcode::cp_async_wait_group,
     [](Decoder& d) { d.emit(&wait_small, 0, 0, 0, 0, static_cast<std::uint32_t>(d.literal(d.arg(0)))); }},
    {Opcode::cp_async_wait_all, [](Decoder& d) { d.emit(&wait_all_small); }},
    {Opcode::cp_async_mbarrier_arrive, &select_cp_async_mbarrier_arrive},
    {Opcode::st_async, &select_st_async},
    {Opcode::prefetch_tensormap, &select_prefetch_tensormap},
    {Opcode::cp_async_bulk, &select_cp_async_bulk},
    {Opcode::cp_async_bulk_prefetch, &select_cp_async_bulk_prefetch},
    {Opcode::cp_async_bulk_tensor_load, &select_cp_async_bulk_tensor_load},
    {Opcode::cp_async_bulk_tensor_store, &select_cp_async_bulk_tensor_store},
    {Opcode::cp_async_bulk_prefetch_tensor, &select_cp_async_bulk_prefetch_tensor},
    {Opcode::cp_async_bulk_commit_group, [](Decoder& d) { d.emit(&commit<&Cta::engine>); }},
    {Opcode::cp_async_bulk_wait_group, &select_cp_async_bulk_wait_group},
    {Opcode::red_async, &select_red_async},
};

}  // namespace

constinit const Selectors bulk_selectors = table;

}  // namespace sim
TMAJIT_END
