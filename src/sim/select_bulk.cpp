/// Bulk copies and tensor copies: operands checked, then handed to the engine (PTX ISA 9.7.9.25 to 9.7.9.28).
#include "sim/cluster.hpp"
#include "sim/decode.hpp"
#include "sim/memory_access.hpp"
#include "sim/tile.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

const BulkOperands& operands_of(const Warp& warp, const MicroOp& op) {
  return warp.program->bulks[op.aux];
}

/// The shared range of a copy, aligned; reports and stops otherwise.
SharedPlace shared_range(Warp& warp, std::uint32_t lane, const MemoryAccess& access, std::uint32_t bytes,
                         std::uint32_t alignment) {
  const std::uint64_t address = address_of(warp, access, lane);
  const auto own = warp.cta->shared_offset(address, bytes);
  const bool peer = !own && warp.cta->is_peer_address(address, Space::shared);
  if (!own && !peer) {
    warp.cta->fail(warp, lane, "shared.out-of-bounds",
                   fmt::format("a bulk copy of {} bytes at shared address {:#x}", bytes, address),
                   fmt::format("{} bytes from {:#x}", warp.cta->shared_bytes(), shared_base),
                   "check the stage's offset and the dynamic shared memory of the launch");
  }
  if (address % alignment != 0) {
    warp.cta->fail(warp, lane, "copy.shared-alignment", fmt::format("shared address {:#x}", address),
                   fmt::format("a multiple of {}", alignment), "align the buffer");
  }
  if (own) return {warp.cta, *own};
  return reach_shared(warp, lane, address, bytes, access.peers, true);
}

TensorMap map_of(Warp& warp, std::uint32_t lane, const MemoryAccess& access) {
  Cta& cta = *warp.cta;
  const std::uint64_t address = address_of(warp, access, lane);
  const auto in = [&](std::uint64_t window) { return address >= window && address < window + window_bytes; };
  if (in(local_window) || in(shared_window)) {
    cta.fail(warp, lane, "tensormap.space",
             fmt::format("a tensor map at {:#x}, in local or shared memory", address),
             "a tensor map in param, const or global memory",
             "pass it as a const __grid_constant__ parameter");
  }
  const Target target = resolve(warp, lane, Space::generic, address, 128, 64, false);
  const std::optional<TensorMap> map = cta.launch.tensor_maps.decode(target.memory);
  if (!map) {
    cta.fail(warp, lane, "tensormap.invalid",
             fmt::format("the 128 bytes at {:#x} are no tensor map of this device", address),
             "bytes that Device::encode() gave", "check which parameter the kernel takes for the map");
  }
  return *map;
}

std::uint32_t place_of(const Warp& warp) {
  return warp.program->places[warp.here()];
}

/// The tile that a lane asks for.
Copy tensor_copy(Warp& warp, std::uint32_t lane, const BulkOperands& operands,
                 const MemoryAccess& map_access) {
  Copy copy;
  copy.tensor = true;
  copy.map = map_of(warp, lane, map_access);
  const TensorMapSpec& spec = copy.map.spec;
  if (operands.coordinates.size() != spec.rank) {
    warp.cta->fail(
        warp, lane, "tensormap.rank",
        fmt::format("an instruction of {} dimensions on a map of {}", operands.coordinates.size(), spec.rank),
        "the same number", "use the instruction of the map's rank");
  }
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    copy.origin[spec.rank - 1 - d] = get<std::int32_t>(warp.registers + operands.coordinates[d], lane);
  }
  if (spec.interleave == Interleave::none && copy.origin[spec.rank - 1U] * size_of(spec.type) % 16 != 0) {
    warp.cta->fail(warp, lane, "copy.inner-coordinate",
                   fmt::format("innermost coordinate {} of {}-byte elements", copy.origin[spec.rank - 1U],
                               size_of(spec.type)),
                   "a multiple of 16 bytes (else the instruction is illegal)", "round the coordinate down");
  }
  copy.thread = warp.index * lanes + lane;
  copy.issuer = warp.cta;
  copy.place = place_of(warp);
  copy.bytes = Tile(spec, copy.origin).bytes();
  return copy;
}

/// Shared address of a tile: aligned to 128, and to the swizzle's period.
SharedPlace tile_place(Warp& warp, std::uint32_t lane, const Copy& copy, const MemoryAccess& access) {
  const Tile tile(copy.map.spec, copy.origin);
  const SharedPlace at = shared_range(warp, lane, access, tile.span(), 128);
  const std::uint32_t offset = at.offset;
  const std::uint32_t period = tile_layout(copy.map.spec).alignment;
  if (offset % period != 0) {
    warp.cta->report(warp, lane, "copy.swizzle-base",
                     fmt::format("a swizzled tile at shared address {:#x}", offset + shared_base),
                     fmt::format("a multiple of the swizzle's period, {} bytes", period),
                     "align the stage: off its period the pattern is shifted");
  }
  return at;
}

/// The mbarrier that a load completes on, in the CTA that its bytes go to.
std::uint32_t barrier_offset(Warp& warp, std::uint32_t lane, const MemoryAccess& access, Cta& target) {
  const SharedPlace at = completion_barrier(warp, lane, address_of(warp, access, lane), access.peers, target);
  if (at.owner == warp.cta && !target.visible(*target.mbarrier(at.offset))) {
    warp.cta->report(
        warp, lane, "mbarrier.init-not-fenced",
        fmt::format("a load completes on the mbarrier at shared address {:#x}, whose mbarrier.init no fence "
                    "has made visible to the copy engine",
                    at.offset + shared_base),
        "fence.mbarrier_init, or fence.proxy.async, by the thread that initialised it",
        "call fence_mbarrier_init() after the last mbarrier.init");
  }
  return at.offset;
}

void tensor_load(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = operands_of(warp, op);
  for_lanes(mask, [&](std::uint32_t lane) {
    Copy copy = tensor_copy(warp, lane, operands, operands.source);
    const SharedPlace to = tile_place(warp, lane, copy, operands.destination);
    copy.shared = to.offset;
    copy.barrier = barrier_offset(warp, lane, operands.barrier, *to.owner);
    to.owner->engine.issue_load(copy, warp, lane);
  });
}

void tensor_store(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = operands_of(warp, op);
  for_lanes(mask, [&](std::uint32_t lane) {
    Copy copy = tensor_copy(warp, lane, operands, operands.destination);
    for (std::uint32_t d = 0; d < copy.map.spec.rank; ++d) {
      if (copy.origin[d] >= 0) continue;
      warp.cta->fail(warp, lane, "store.negative-coordinate",
                     fmt::format("a tensor store at coordinate {} in dimension {}", copy.origin[d], d),
                     "coordinates that are not negative", "clip the tile on the kernel's side");
    }
    copy.shared = tile_place(warp, lane, copy, operands.source).offset;
    warp.cta->engine.issue_store(copy, warp, lane);
  });
}

void tensor_prefetch(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = operands_of(warp, op);
  for_lanes(mask, [&](std::uint32_t lane) { (void)tensor_copy(warp, lane, operands, operands.source); });
}

void map_prefetch(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { (void)map_of(warp, lane, operands_of(warp, op).source); });
}

/// A one-dimensional copy without its shared and barrier offsets.
Copy bulk_copy(Warp& warp, std::uint32_t lane, const BulkOperands& operands, const MemoryAccess& global) {
  Copy copy;
  copy.global = address_of(warp, global, lane);
  copy.bytes = get<std::uint32_t>(warp.registers + operands.bytes, lane);
  copy.thread = warp.index * lanes + lane;
  copy.issuer = warp.cta;
  copy.place = place_of(warp);
  if (copy.global % 16 != 0 || copy.bytes % 16 != 0) {
    warp.cta->fail(warp, lane, "copy.global-alignment",
                   fmt::format("a bulk copy of {} bytes at global address {:#x}", copy.bytes, copy.global),
                   "multiples of 16", "copy the ends of the range with threads");
  }
  return copy;
}

void bulk_load(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = operands_of(warp, op);
  for_lanes(mask, [&](std::uint32_t lane) {
    Copy copy = bulk_copy(warp, lane, operands, operands.source);
    const SharedPlace to = shared_range(warp, lane, operands.destination, copy.bytes, 16);
    copy.shared = to.offset;
    copy.barrier = barrier_offset(warp, lane, operands.barrier, *to.owner);
    to.owner->engine.issue_load(copy, warp, lane);
  });
}

void bulk_store(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = operands_of(warp, op);
  for_lanes(mask, [&](std::uint32_t lane) {
    Copy copy = bulk_copy(warp, lane, operands, operands.destination);
    copy.shared = shared_range(warp, lane, operands.source, copy.bytes, 16).offset;
    warp.cta->engine.issue_store(copy, warp, lane);
  });
}

void bulk_prefetch(Warp& warp, const MicroOp& op, Mask mask) {
  const BulkOperands& operands = operands_of(warp, op);
  for_lanes(mask, [&](std::uint32_t lane) { (void)bulk_copy(warp, lane, operands, operands.source); });
}

void commit(Warp& warp, const MicroOp&, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { warp.cta->engine.commit_group(warp.index * lanes + lane); });
}

/// a: groups that may be pending; aux: 1 for .read.
void wait_group(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    warp.cta->engine.wait_group(warp.index * lanes + lane, get<std::uint32_t>(warp.registers + op.a, lane),
                                op.aux == 1);
  });
}

void emit_bulk(Decoder& d, Handler handler, BulkOperands operands) {
  d.program().bulks.push_back(std::move(operands));
  d.emit(handler, 0, 0, 0, 0, static_cast<std::uint32_t>(d.program().bulks.size() - 1));
}

void take_coordinates(Decoder& d, BulkOperands& operands, const Arg& tensor) {
  for (const Arg& element : tensor.elements) {
    if (element.kind == Arg::Kind::group) {
      for (const Arg& inner : element.elements)
        operands.coordinates.push_back(d.read(inner, ScalarType::s32));
    } else {
      operands.coordinates.push_back(d.read(element, ScalarType::s32));
    }
  }
}

/// Modes that come with later issues.
void refuse_modes(const Decoder& d) {
  for (const char* word : {"multicast::cluster", "im2col", "im2col_no_offs", "im2col::w", "im2col::w::128",
                           "tile::gather4", "tile::scatter4", "cp_mask", "cta_group::1", "cta_group::2"}) {
    if (d.has(word)) d.unsupported(fmt::format(".{}", word));
  }
}

bool emit_copy(Decoder& d) {
  const auto spaces = d.in().spaces();
  if (spaces.size() != 2) return false;
  BulkOperands operands;
  operands.destination = d.address(d.arg(0), Space::shared);
  operands.source = d.address(d.arg(1), Space::shared);
  operands.source.peers = false;
  operands.bytes = d.read(d.arg(2), ScalarType::u32);
  if (spaces[0] == ptx::StateSpace::global) {
    emit_bulk(d, &bulk_store, std::move(operands));
    return true;
  }
  if (spaces[1] != ptx::StateSpace::global) return false;  // select_cluster
  operands.barrier = d.address(d.arg(3), Space::shared);
  emit_bulk(d, &bulk_load, std::move(operands));
  return true;
}

}  // namespace

bool select_bulk(Decoder& d) {
  refuse_modes(d);
  BulkOperands operands;
  switch (d.in().opcode) {
    case Opcode::cp_async_bulk: return emit_copy(d);
    case Opcode::cp_async_bulk_prefetch:
      operands.source = d.address(d.arg(0), Space::global);
      operands.bytes = d.read(d.arg(1), ScalarType::u32);
      emit_bulk(d, &bulk_prefetch, std::move(operands));
      return true;
    case Opcode::cp_async_bulk_tensor_load:
      operands.destination = d.address(d.arg(0), Space::shared);
      operands.source = d.address(d.arg(1), Space::generic);
      operands.barrier = d.address(d.arg(2), Space::shared);
      take_coordinates(d, operands, d.arg(1));
      emit_bulk(d, &tensor_load, std::move(operands));
      return true;
    case Opcode::cp_async_bulk_tensor_store:
      operands.destination = d.address(d.arg(0), Space::generic);
      operands.source = d.address(d.arg(1), Space::shared);
      take_coordinates(d, operands, d.arg(0));
      emit_bulk(d, &tensor_store, std::move(operands));
      return true;
    case Opcode::cp_async_bulk_prefetch_tensor:
      operands.source = d.address(d.arg(0), Space::generic);
      take_coordinates(d, operands, d.arg(0));
      emit_bulk(d, &tensor_prefetch, std::move(operands));
      return true;
    case Opcode::prefetch_tensormap: {
      // A map named in .param space lies in its window.
      operands.source = d.address(d.arg(0), Space::generic);
      if (d.space() == Space::param) operands.source.offset += static_cast<std::int64_t>(param_window);
      if (d.space() == Space::constant) operands.source.offset += static_cast<std::int64_t>(constant_window);
      emit_bulk(d, &map_prefetch, std::move(operands));
      return true;
    }
    case Opcode::cp_async_bulk_commit_group: d.emit(&commit); return true;
    case Opcode::cp_async_bulk_wait_group:
      d.emit(&wait_group, 0, d.constant(d.literal(d.arg(0)), false), 0, 0, d.has("read") ? 1 : 0);
      return true;
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
