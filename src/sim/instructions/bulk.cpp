/// Bulk and tensor copies and reductions (PTX ISA 9.7.9.25.4, 9.7.9.27): loads into the shared memory of one
/// CTA or (multicast) of several, stores, and copies between the CTAs of a cluster.
#include "sim/cta/cta.hpp"
#include "sim/engine/reduction.hpp"
#include "sim/instructions/select.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// A handler that calls each(warp, lane, operands) for every lane of the mask. bulks[aux]: the operands.
template <auto each>
void by_lane(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = warp.program->bulks[op.aux];
  for_lanes(mask, [&](std::uint32_t lane) { each(warp, lane, operands); });
}

/// Resolves the shared range of a copy. Calls Warp::fail() if it is misaligned or outside shared memory.
SharedAddress shared_range(Warp& warp, std::uint32_t lane, const MemoryAccess& access, std::uint32_t bytes,
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

/// Checks a tensor map that a kernel has changed: it must be legal, and if this launch has changed it, fences
/// must have made the change visible to the tensormap proxy. Returns the map as copies use it.
TensorMap changed_map(Warp& warp, std::uint32_t lane, std::uint64_t address, TensorMap map) {
  using Missing = MapChanges::Missing;
  Cta& cta = *warp.cta;
  map.spec = as_used(map.spec);
  if (const auto broken = validate(map.spec, map.address); !broken.empty()) {
    const Violation& first = broken.front();
    warp.fail(lane, "tensormap.changed",
              fmt::format("the changed tensor map at {:#x} breaks the rule {}: {} is {}", address, first.rule,
                          first.subject, first.found),
              first.need);
  }
  if (map.changed_in != cta.launch.number) return map;
  if (cta.races) {
    // An access must not cross a line of the race detector's shadow, so the map is read in two halves.
    std::array<std::uint64_t, lanes> at{};
    for (at[lane] = address; at[lane] < address + map_bytes; at[lane] += map_bytes / 2)
      cta.races->access(warp, {Memory::global, map_bytes / 2, false, {}}, at, 1U << lane);
  }
  const Missing missing = cta.launch.map_changes.missing(address, cta.number());
  if (missing == Missing::nothing) return map;
  const bool release = missing == Missing::release;
  warp.report(lane,
              release ? check::RuleId("tensormap.not-released") : check::RuleId("tensormap.not-acquired"),
              fmt::format("a use of the tensor map at {:#x}, which the kernel has changed, with no {} fence "
                          "since",
                          address, release ? "release" : "acquire"));
  return map;
}

/// The tensor map at an address. Calls Warp::fail() if there is none.
TensorMap map_of(Warp& warp, std::uint32_t lane, const MemoryAccess& access) {
  Cta& cta = *warp.cta;
  const std::uint64_t address = address_of(warp, access, lane);
  std::uint64_t offset = address;
  if (const Space space = take_space(offset); space == Space::local || space == Space::shared) {
    warp.fail(lane, "tensormap.space",
              fmt::format("a tensor map at {:#x}, in local or shared memory", address));
  }
  if (address % map_alignment != 0) {
    warp.fail(lane, "tensormap.alignment", fmt::format("a tensor map at {:#x}", address),
              fmt::format("a multiple of {}", map_alignment));
  }
  const Target target = resolve(warp, lane, Space::generic, address, map_bytes, map_alignment, false);
  const std::optional<TensorMap> map = cta.launch.tensor_maps.decode(target.memory);
  if (!map) {
    warp.fail(lane, "tensormap.invalid",
              fmt::format("the 128 bytes at {:#x} are no tensor map of this device", address));
  }
  return map->changed_in == 0 ? *map : changed_map(warp, lane, address, *map);
}

/// Reads and checks the operands of an im2col copy: the first position of the filter's corner, and the
/// offsets.
void read_pixels(Warp& warp, std::uint32_t lane, const BulkOperands& operands, Copy& copy) {
  const TensorMapSpec& spec = copy.map.spec;
  const std::uint32_t first = first_image_dimension(spec.interleave);
  for (std::uint32_t i = 0; i + 2U < spec.rank; ++i) {
    const std::uint32_t d = first + i;
    const std::int64_t lowest = spec.pixel_box.lower[i];
    const std::int64_t highest = static_cast<std::int64_t>(spec.shape[d]) - 1 + spec.pixel_box.upper[i];
    if (copy.origin[d] >= lowest && copy.origin[d] <= highest) continue;
    warp.fail(lane, "im2col.corner",
              fmt::format("a copy whose filter's corner begins at {} in dimension {}", copy.origin[d], d),
              fmt::format("{} to {}, within the bounding box", lowest, highest));
  }
  const std::uint64_t limit = 1ULL << pixel_offset_bits(spec.rank);
  for (std::uint32_t i = 0; i < operands.offsets.size(); ++i) {
    const auto offset = get<std::uint16_t>(warp.registers + operands.offsets[i], lane);
    if (offset >= limit) {
      warp.fail(lane, "im2col.offset", fmt::format("an offset of {} on a map of rank {}", offset, spec.rank),
                fmt::format("0 to {}", limit - 1));
    }
    copy.offsets[spec.rank + first - 3U - i] = offset;
  }
}

/// A tensor copy by a lane, without its shared and barrier offsets.
Copy tensor_copy(Warp& warp, std::uint32_t lane, const BulkOperands& operands,
                 const MemoryAccess& map_access) {
  Copy copy = issued_by(warp, lane);
  copy.tensor = true;
  copy.map = map_of(warp, lane, map_access);
  copy.map_at = address_of(warp, map_access, lane);
  const TensorMapSpec& spec = copy.map.spec;
  if (operands.mode != spec.mode) {
    warp.fail(
        lane, "tensormap.mode",
        fmt::format("an instruction of mode {} on a map of mode {}", name(operands.mode), name(spec.mode)));
  }
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
  if (spec.mode == MapMode::im2col) read_pixels(warp, lane, operands, copy);
  copy.bytes = copy.tile().bytes();
  return copy;
}

/// Resolves the shared range of a bulk or tensor copy. A tile must be aligned to 128 bytes and to the
/// swizzle's period.
SharedAddress resolve_shared(Warp& warp, std::uint32_t lane, const Copy& copy, const MemoryAccess& access) {
  if (!copy.tensor) return shared_range(warp, lane, access, copy.bytes, 16);
  const Tile tile = copy.tile();
  const SharedAddress at = shared_range(warp, lane, access, tile.span(), 128);
  const std::uint32_t offset = at.offset;
  const std::uint32_t period = tile_layout(copy.map.spec).alignment;
  if (offset % period != 0) {
    warp.report(lane, "copy.swizzle-base",
                fmt::format("a swizzled tile at shared address {:#x}", offset + shared_base),
                fmt::format("a multiple of the swizzle's period, {} bytes", period));
  }
  return at;
}

/// The offset of the mbarrier on which a load completes, in the destination's CTA. Reports an init without a
/// fence.
std::uint32_t barrier_offset(Warp& warp, std::uint32_t lane, std::uint64_t address, bool peers, Cta& target) {
  const SharedAddress at = completion_barrier(warp, lane, address, peers, target);
  // If the lane has not synchronised with the init at all, a race is reported instead.
  const std::uint32_t mbarrier = target.in_cluster(at.offset);
  if (!target.visible(*target.mbarrier(at.offset)) &&
      (!target.races || target.races->follows_write(warp, lane, mbarrier) ||
       target.races->write_precedes_cluster_phase(mbarrier))) {
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

/// Issues a load to each CTA of the mask, at the same offset. Each completes on the mbarrier at the same
/// offset in its CTA.
void multicast(Warp& warp, std::uint32_t lane, const BulkOperands& operands, Copy copy) {
  Cluster& cluster = warp.cta->cluster;
  const auto mask = get<std::uint16_t>(warp.registers + *operands.cta_mask, lane);
  if (mask == 0 || mask >> cluster.size() != 0) {
    warp.fail(lane, "multicast.mask", fmt::format("a multicast load with the CTA mask {:#x}", mask),
              fmt::format("some of the bits 0 to {}, one for each CTA of the cluster", cluster.size() - 1));
  }
  const std::uint32_t bytes = copy.tensor ? copy.tile().span() : copy.bytes;
  const std::uint64_t barrier = address_of(warp, operands.barrier, lane);
  for_lanes(mask, [&](std::uint32_t rank) {
    const auto in_rank = [&](std::uint64_t address, std::uint32_t size) {
      return reach_shared(warp, lane, map_to_rank(address, rank), size, true, true);
    };
    Cta& target = *in_rank(copy.shared + shared_base, bytes).owner;
    copy.barrier = barrier_offset(warp, lane, map_to_rank(barrier, rank), true, target);
    target.engine.issue_load(copy, warp, lane);
  });
}

// `copy_of` is tensor_copy or bulk_copy.

/// A load into one CTA or several.
template <auto copy_of>
void load(Warp& warp, std::uint32_t lane, const BulkOperands& operands) {
  Copy copy = copy_of(warp, lane, operands, operands.source);
  const SharedAddress to = resolve_shared(warp, lane, copy, operands.destination);
  copy.shared = to.offset;
  if (operands.cta_mask) return multicast(warp, lane, operands, copy);
  copy.barrier =
      barrier_offset(warp, lane, address_of(warp, operands.barrier, lane), operands.barrier.peers, *to.owner);
  to.owner->engine.issue_load(copy, warp, lane);
}

/// The reduction into a tensor: the instruction gives the operation, the tensor map the element type.
Reduction tensor_reduction(Warp& warp, std::uint32_t lane, const BulkOperands& operands, const Copy& copy) {
  const Atomic operation = operands.reduction.operation;
  const ElementType type = copy.map.spec.type;
  const std::optional<Reduction> reduction = reduction_of(operation, type);
  if (!reduction) {
    const bool signed_bits = type == ElementType::i64 && reduction_of(operation, ElementType::u64);
    warp.fail(lane, "reduce.type", fmt::format("a reduction into a tensor of {}", name(type)),
              signed_bits ? "a map of u64, whose sums and bit-wise operations give the same bits" : "");
  }
  return *reduction;
}

/// Reports a store through an im2col map whose bounding box extends beyond the image. On an H200 it is an
/// illegal instruction, even if all its pixels are inside (docs/tma.md).
void check_corners(Warp& warp, std::uint32_t lane, const TensorMapSpec& spec) {
  if (spec.mode != MapMode::im2col) return;
  const auto refuse = [&](std::string_view which, std::int32_t corner, std::uint32_t i) {
    warp.fail(lane, "im2col.store-corner",
              fmt::format("a store by an im2col map whose {} corner is {} in dimension {} of the image",
                          which, corner, i));
  };
  for (std::uint32_t i = 0; i + 2U < spec.rank; ++i) {
    if (spec.pixel_box.lower[i] < 0) refuse("lower", spec.pixel_box.lower[i], i);
    if (spec.pixel_box.upper[i] > 0) refuse("upper", spec.pixel_box.upper[i], i);
  }
}

template <auto copy_of>
void store(Warp& warp, std::uint32_t lane, const BulkOperands& operands) {
  Copy copy = copy_of(warp, lane, operands, operands.destination);
  if (copy.tensor) check_corners(warp, lane, copy.map.spec);
  for (std::uint32_t d = 0; d < copy.origin.size(); ++d) {
    if (copy.origin[d] >= 0) continue;
    warp.fail(lane, "store.negative-coordinate",
              fmt::format("a tensor store at coordinate {} in dimension {}", copy.origin[d], d));
  }
  copy.reduction = operands.reduction;
  if (operands.reduces && copy.tensor) copy.reduction = tensor_reduction(warp, lane, operands, copy);
  copy.shared = resolve_shared(warp, lane, copy, operands.source).offset;
  warp.cta->engine.issue_store(copy, warp, lane);
}

template <auto copy_of>
void prefetch(Warp& warp, std::uint32_t lane, const BulkOperands& operands) {
  (void)copy_of(warp, lane, operands, operands.source);
}

void map_prefetch(Warp& warp, std::uint32_t lane, const BulkOperands& operands) {
  (void)map_of(warp, lane, operands.source);
}

/// cp.async.bulk.shared::cluster.shared::cta: a copy to a peer CTA.
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
  const SharedAddress source = reach_shared(warp, lane, from, copy.bytes, false, false);
  const SharedAddress target = reach_shared(warp, lane, to, copy.bytes, true, true);
  if (target.owner == &cta) {
    warp.fail(lane, "copy.own-cta", "a bulk copy from shared memory to that of the same CTA");
  }
  copy.shared = target.offset;
  copy.source = &cta;
  copy.source_offset = source.offset;
  copy.reduction = operands.reduction;
  copy.reduces = operands.reduces;
  copy.barrier =
      completion_barrier(warp, lane, address_of(warp, operands.barrier, lane), true, *target.owner).offset;
  cta.engine.begin_read(copy, warp, lane);
  target.owner->engine.issue_load(copy, warp, lane);
}

void commit(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->engine.commit_group(warp.thread(lane)); });
}

/// cp.async.bulk.wait_group. a: number of groups that may be pending; aux: 1 for .read.
void wait_group(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    warp.cta->engine.wait_group(warp.thread(lane), get<std::uint32_t>(warp.registers + op.a, lane),
                                op.aux == 1);
  });
}

void emit_bulk(Decoder& d, Handler handler, BulkOperands operands) {
  d.emit(handler, 0, 0, 0, 0, d.add(std::move(operands)));
}

/// The slots of the coordinates in a tensor operand.
std::vector<Slot> coordinates(Decoder& d, const Arg& tensor) {
  std::vector<Slot> all;
  for (const Arg& coordinate : tensor.elements) {
    for (const Arg& each : elements(coordinate)) all.push_back(d.read(each, ScalarType::s32));
  }
  return all;
}

/// Rejects unsupported modes: Hopper does not have them.
void refuse_modes(const Decoder& d) {
  for (const char* word : {"im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4", "cp_mask",
                           "cta_group::1", "cta_group::2"}) {
    if (d.has(word)) d.unsupported(fmt::format(".{}", word));
  }
}

/// Sets the mode of a tensor copy, and for `.im2col` the offsets, which are in operand i: one for each
/// dimension of an image.
void read_mode(Decoder& d, std::size_t i, BulkOperands& operands) {
  refuse_modes(d);
  const bool has_offsets = d.has("im2col");
  if (has_offsets || d.has("im2col_no_offs")) operands.mode = MapMode::im2col;
  if (!has_offsets) return;
  const std::size_t dimensions = std::max<std::size_t>(operands.coordinates.size(), 2) - 2;
  if (i < d.args().size() && d.arg(i).kind == Arg::Kind::group)
    operands.offsets = d.slots(d.arg(i), ScalarType::u16, false);
  if (operands.offsets.size() != dimensions || dimensions == 0)
    d.unsupported(
        fmt::format("{} offsets for {} coordinates", operands.offsets.size(), operands.coordinates.size()));
}

/// If the load is a multicast, reads its mask of destination CTAs from operand i.
void read_cta_mask(Decoder& d, std::size_t i, BulkOperands& operands) {
  if (d.has("multicast::cluster")) operands.cta_mask = d.read(i, ScalarType::u16);
}

/// Selects cp.async.bulk, or with `reduction` cp.reduce.async.bulk.
void select_bulk(Decoder& d, const Reduction* reduction) {
  refuse_modes(d);
  const auto spaces = d.instruction().spaces();
  if (spaces.size() != 2) d.unsupported();
  const bool loads = spaces[1] == StateSpace::global;
  const bool stores = spaces[0] == StateSpace::global;
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.source = d.address(d.arg(1), Space::shared);
  operands.bytes = d.read(2, ScalarType::u32);
  if (loads || !stores) operands.barrier = d.address(d.arg(3), Space::shared);
  if (loads || stores) operands.source.peers = false;
  if (loads) read_cta_mask(d, 4, operands);
  operands.reduces = reduction != nullptr;
  if (reduction != nullptr) operands.reduction = *reduction;
  emit_bulk(d,
            loads    ? &by_lane<load<bulk_copy>>
            : stores ? &by_lane<store<bulk_copy>>
                     : &by_lane<copy_to_peer>,
            std::move(operands));
}

void select_cp_async_bulk(Decoder& d) {
  select_bulk(d, nullptr);
}

void select_cp_reduce_async_bulk(Decoder& d) {
  const std::optional<Atomic> operation = atomic_of(d.instruction());
  const bool to_global =
      !d.instruction().spaces().empty() && d.instruction().spaces()[0] == StateSpace::global;
  const ScalarType type = d.type();
  const bool half_sum = operation == Atomic::add && is_half(type);
  if (!operation || d.has("noftz") != half_sum) d.unsupported();
  const auto reduction = reduction_of(*operation, type, to_global ? ReductionTo::global : ReductionTo::peer);
  if (!reduction) d.unsupported("this operation on this type");
  select_bulk(d, &*reduction);
}

void select_cp_async_bulk_prefetch(Decoder& d) {
  BulkOperands operands;
  operands.source = d.address(d.arg(0), Space::global);
  operands.bytes = d.read(1, ScalarType::u32);
  emit_bulk(d, &by_lane<prefetch<bulk_copy>>, std::move(operands));
}

void select_cp_async_bulk_tensor_load(Decoder& d) {
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.source = d.address(d.arg(1), Space::generic);
  operands.barrier = d.address(d.arg(2), Space::shared);
  operands.coordinates = coordinates(d, d.arg(1));
  read_mode(d, 3, operands);
  read_cta_mask(d, operands.offsets.empty() ? 3 : 4, operands);
  emit_bulk(d, &by_lane<load<tensor_copy>>, std::move(operands));
}

/// Selects cp.async.bulk.tensor (stores) and cp.reduce.async.bulk.tensor.
void select_cp_async_bulk_tensor_store(Decoder& d) {
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::generic);
  operands.source = d.address(d.arg(1), Space::shared);
  operands.coordinates = coordinates(d, d.arg(0));
  read_mode(d, 2, operands);
  operands.reduces = d.instruction().opcode == Opcode::cp_reduce_async_bulk_tensor;
  if (operands.reduces) operands.reduction.operation = *atomic_of(d.instruction());
  emit_bulk(d, &by_lane<store<tensor_copy>>, std::move(operands));
}

void select_cp_async_bulk_prefetch_tensor(Decoder& d) {
  BulkOperands operands;
  operands.source = d.address(d.arg(0), Space::generic);
  operands.coordinates = coordinates(d, d.arg(0));
  read_mode(d, 1, operands);
  emit_bulk(d, &by_lane<prefetch<tensor_copy>>, std::move(operands));
}

void select_prefetch_tensormap(Decoder& d) {
  BulkOperands operands;
  operands.source = d.address(d.arg(0), Space::generic);
  // For .param and .const, turn the address in the space into a generic one.
  operands.source.offset += static_cast<std::int64_t>(window_of(d.space()));
  emit_bulk(d, &by_lane<map_prefetch>, std::move(operands));
}

void select_cp_async_bulk_wait_group(Decoder& d) {
  d.emit(&wait_group, 0, d.constant(d.literal(d.arg(0)), false), 0, 0, d.has("read") ? 1 : 0);
}

constexpr Selector bulk_table[] = {
    {Opcode::prefetch_tensormap, &select_prefetch_tensormap},
    {Opcode::cp_async_bulk, &select_cp_async_bulk},
    {Opcode::cp_reduce_async_bulk, &select_cp_reduce_async_bulk},
    {Opcode::cp_async_bulk_prefetch, &select_cp_async_bulk_prefetch},
    {Opcode::cp_async_bulk_tensor_load, &select_cp_async_bulk_tensor_load},
    {Opcode::cp_async_bulk_tensor_store, &select_cp_async_bulk_tensor_store},
    {Opcode::cp_reduce_async_bulk_tensor, &select_cp_async_bulk_tensor_store},
    {Opcode::cp_async_bulk_prefetch_tensor, &select_cp_async_bulk_prefetch_tensor},
    {Opcode::cp_async_bulk_commit_group, [](Decoder& d) { d.emit(&commit); }},
    {Opcode::cp_async_bulk_wait_group, &select_cp_async_bulk_wait_group},
};

}  // namespace

constinit const Selectors bulk_selectors = bulk_table;

}  // namespace sim
TMAJIT_END
