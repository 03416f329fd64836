// How concurrent tiles of a scan get the state before them: decoupled look-back in a fixed order.
//@ # `1 << log2_unit` tiles of a row form a unit, and as many units form a block. The last tile of a block
//@ # publishes the prefix up to the block's end. The last tile of any other unit publishes the unit's
//@ # aggregate. Every other tile publishes its own aggregate. If units have one tile, each tile is a block.
//@ # A tile combines the prefix of the previous block, the aggregates of the earlier units of its block, and
//@ # the aggregates of the earlier tiles of its unit, always in this order: no result depends on timing.
//@ # The slots of a level form a ring; a tag is the number of the round through the ring, from 1. Scratch
//@ # memory is zero before and after the kernel. CTAs are dispatched in the order of their numbers, and a
//@ # tile waits only for tiles with lower numbers: no deadlock.
#pragma once
#include "tmajit/global.cuh"
#include "tmajit/raw.cuh"
#include "tmajit/scan_plan.cuh"
#include "tmajit/shuffles.cuh"
#include "tmajit/slot.cuh"

namespace tmajit {

// One tile's view of the rings. Level 0 has a slot for each tile, level 1 for each unit, level 2 for each block.
template <class Scanned>
struct LookBack {
  using State = typename Scanned::State;
  static constexpr u32 slot_bytes = sizeof(Slot<State>);
  const params::ScanRing& ring;
  u8* scratch;
  u32 tiles;   // tiles of the launch
  u32 chains;  // rows, or groups of neighbouring columns
  u32 chain;   // the tile's chain
  u32 part;    // the tile's number in its chain
  u32 parts;   // tiles of a chain

  // The address and the tag of member `n` of a level; n counts the members of the level in the row.
  struct Location {
    u8* at;
    u32 tag;
  };
  __device__ __forceinline__ Location location(u32 level, u32 n, u32 column) const {
    const u32 number = n * chains + chain;
    const u32 log2_slots = ring.log2_tiles - level * ring.log2_unit;
    const u64 slot = static_cast<u64>(number & ((1u << log2_slots) - 1)) * ring.width + column;
    return {scratch + ring.first[level] + slot * slot_bytes, (number >> log2_slots) + 1};
  }
  // The number of the tile's own member of a level: the tile, its unit or its block.
  __device__ __forceinline__ u32 own_member(u32 level) const { return part >> level * ring.log2_unit; }
  // The position of this member in the enclosing unit (level 0) or block (level 1), and whether it is the last one there.
  __device__ __forceinline__ u32 place(u32 level) const { return own_member(level) & ((1u << ring.log2_unit) - 1); }
  __device__ __forceinline__ bool is_last(u32 level) const { return place(level) + 1 == 1u << ring.log2_unit; }

  // Waits until no tile needs the old contents of this tile's slots: until all tiles of `waits` parts of the previous round are
  // done, beginning with the part before the tile's own. Thread `n` checks one of these parts.
  __device__ __forceinline__ void wait_for_slots(u32 n) const {
    const u32 log2_part = ring.log2_tiles - params::log2_ring_parts;
    const u32 own = (part * chains + chain) >> log2_part;
    if (n >= ring.waits || own < params::ring_parts) return;  // the first round through the ring finds it empty
    const i32 before = static_cast<i32>(own) - static_cast<i32>(params::ring_parts + 1) + static_cast<i32>(n);
    if (before < 0) return;
    const u32 wanted = (static_cast<u32>(before) / params::ring_parts + 1) << log2_part;
    while (ptx::load_relaxed(scratch + 8 * (static_cast<u32>(before) % params::ring_parts)) < wanted) {
    }
  }
  // peek() reads the slot of member `n` of a level once; wait() reads until the state is published.
  __device__ __forceinline__ Slot<State> peek(u32 level, u32 n, u32 column) const {
    Slot<State> slot;
    slot.load(location(level, n, column).at);
    return slot;
  }
  __device__ __forceinline__ State wait(Slot<State> slot, u32 level, u32 n, u32 column) const {
    const Location from = location(level, n, column);
    while (!slot.has_tag(from.tag)) slot.load(from.at);
    return slot.state();
  }
  // Combines one of `shares` shares of the members before the tile in its unit (level 0) or block (level 1), in order. It
  // loads four slots before it waits for the first.
  __device__ __forceinline__ State share(u32 level, u32 share, u32 shares, u32 column) const {
    constexpr u32 at_once = 4;
    const u32 members = place(level);
    const u32 begin = own_member(level) - members;
    const u32 per_share = (members + shares - 1) / shares;
    const u32 last = least(share * per_share + per_share, members);
    State all = Scanned::identity();
    for (u32 n = share * per_share; n < last; n += at_once) {
      Slot<State> slots[at_once];
#pragma unroll
      for (u32 k = 0; k < at_once; ++k) {
        if (n + k < last) slots[k] = peek(level, begin + n + k, column);
      }
#pragma unroll
      for (u32 k = 0; k < at_once; ++k) {
        if (n + k < last) all = Scanned::combine(all, wait(slots[k], level, begin + n + k, column));
      }
    }
    return all;
  }
  // The combined state of the blocks before the tile's block.
  __device__ __forceinline__ State block_prefix(u32 column) const {
    const u32 block = own_member(2);
    return block == 0 ? Scanned::identity() : wait(peek(2, block - 1, column), 2, block - 1, column);
  }
  __device__ __forceinline__ void publish(u32 level, u32 column, const State& state) const {
    const Location to = location(level, own_member(level), column);
    Slot<State>::publish(to.at, to.tag, state);
  }
  // A tile publishes its own aggregate. The last tile of a unit publishes the unit's instead, and the last tile of a block the
  // prefix.
  __device__ __forceinline__ void publish_tile(u32 column, const State& own) const {
    if (!is_last(0) && part + 1 < parts) publish(0, column, own);
  }
  __device__ __forceinline__ void publish_unit(u32 column, const State& unit) const {
    if (is_last(0) && !is_last(1) && part + 1 < parts) publish(1, column, unit);
  }
  __device__ __forceinline__ void publish_block(u32 column, const State& prefix) const {
    if (is_last(0) && is_last(1) && part + 1 < parts) publish(2, column, prefix);
  }

  // Counts the tile as done with its slots. One thread calls it once all threads have read and published. No fence is needed:
  // the values read are in registers, and a later tile reads this tile's slots before it counts itself.
  __device__ __forceinline__ void leave() const {
    const u32 tile = part * chains + chain;
    atomicAdd(reinterpret_cast<u64*>(scratch) + (tile >> (ring.log2_tiles - params::log2_ring_parts)) % params::ring_parts, u64{1});
  }
  // All threads call it at the end. The last tile waits until all tiles are done, and then clears scratch memory.
  __device__ __forceinline__ void clear() const {
    if (part * chains + chain + 1 != tiles) return;
    const u32 log2_part = ring.log2_tiles - params::log2_ring_parts;
    const u32 whole = tiles >> log2_part;  // full parts, counted over all rounds of the ring
    const u32 k = threadIdx.x;  // each of the first threads checks one part of the ring
    const u32 rest = k == whole % params::ring_parts ? tiles - (whole << log2_part) : 0;
    const u32 expected = ((whole / params::ring_parts + (k < whole % params::ring_parts)) << log2_part) + rest;
    while (k < params::ring_parts && ptx::load_relaxed(scratch + 8 * k) != expected) {
    }
    __syncthreads();
    const auto zero = [](u8* from, u64 bytes) {
#pragma unroll 4
      for (u64 at = 8 * threadIdx.x; at < bytes; at += 8 * blockDim.x) ptx::store_relaxed(from + at, 0);
    };
    zero(scratch, params::ring_prologue);
#pragma unroll 1
    for (u32 level = ring.log2_unit > 0 ? 0 : 2; level < 3; ++level) {
      const u32 slots = 1u << (ring.log2_tiles - level * ring.log2_unit);
      zero(scratch + ring.first[level], static_cast<u64>(least(tiles, slots)) * ring.width * slot_bytes);
    }
  }
};

// Combines the states of a warp's lanes in their order; lane 0 has the result.
template <class Scanned>
__device__ __forceinline__ typename Scanned::State combined_lanes(typename Scanned::State state) {
  const u32 lane = threadIdx.x % 32;
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const auto other = state_of_lane(state, lane + distance);
    if (lane + distance < 32) state = Scanned::combine(state, other);
  }
  return state;
}
// Returns the combined state of all tiles before this one in lane 0; a whole warp calls it. The warp also publishes the
// aggregates that end with this tile, whose own state is `own`. Each lane takes one of the unit's tiles and one of the
// block's units, and all lanes load their slots before any of them waits.
template <class Scanned>
__device__ __forceinline__ typename Scanned::State before_tile(const LookBack<Scanned>& tile, const typename Scanned::State& own) {
  using State = typename Scanned::State;
  const u32 lane = threadIdx.x % 32;
  if (lane == 0) tile.publish_tile(0, own);
  const u32 places[2] = {tile.place(0), tile.place(1)};
  Slot<State> slots[2];
#pragma unroll
  for (u32 level = 0; level < 2; ++level) {
    if (lane < places[level]) slots[level] = tile.peek(level, tile.own_member(level) - places[level] + lane, 0);
  }
  const u32 block = tile.own_member(2);
  Slot<State> prefix;
  if (lane == 0 && block > 0) prefix = tile.peek(2, block - 1, 0);
  State found = Scanned::identity();
#pragma unroll
  for (u32 level = 0; level < 2; ++level) {
    State here = Scanned::identity();
    if (lane < places[level]) here = tile.wait(slots[level], level, tile.own_member(level) - places[level] + lane, 0);
    found = Scanned::combine(combined_lanes<Scanned>(here), found);
    if (level == 0 && lane == 0) tile.publish_unit(0, Scanned::combine(found, own));
  }
  if (lane == 0) {
    if (block > 0) found = Scanned::combine(tile.wait(prefix, 2, block - 1, 0), found);
    tile.publish_block(0, Scanned::combine(found, own));
  }
  return found;
}

}  // namespace tmajit
