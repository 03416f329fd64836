// scan along columns: combines each element with its predecessors. Elements are values of an expression, computed as they are loaded.
//
//@ if alone
// Neighbouring threads own neighbouring columns. A thread loads several rows of its columns at once, and goes on from them to
// the next.
//@ else
// Neighbouring threads own neighbouring columns; threads of different phases share a column. A thread holds some rows of its
// columns. It leaves their aggregate in shared memory, where it finds the aggregates of the phases before its own.
//@ if split
// Tiles of one column run at once: each looks back at the aggregates of the tiles before it (look_back.cuh).
//@ else
// A CTA takes the tiles of its columns one after the other.
//@ end
// Elements stay in registers as they were loaded. A thread combines them once for the aggregate, and once more, from the
// prefix on, for the results.
//@ end
//@ # Facts of the kernel: those of scan_elements.cuh, turns, exclusive and, where a thread walks alone, in_step.
//@ if split
#include "tmajit/look_back.cuh"
//@ end
#include "tmajit/scan_elements.cuh"

namespace tmajit {

// Loads the rows of a thread's columns from `first` on. whole: all of its columns and rows are there.
__device__ __forceinline__ void load_rows(const Plan& plan, const Place& begin, u64 first, Range range, bool whole,
                                          AllInputs (&inputs)[turns]) {
  if (whole) {
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) load_inputs(inputs[turn], plan, moved(plan, begin, first + turn), {0, vector});
  } else {
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      load_inputs(inputs[turn], plan, moved(plan, begin, first + turn), first + turn < plan.length ? range : Range{0, 0});
    }
  }
}

// Combines these rows with each other, then with the rows before them, and stores the results. A result of a long column has
// so passed few roundings. `before` becomes the state up to the last of these rows.
__device__ __forceinline__ void store_rows(const Plan& plan, const Place& begin, u64 first, Range range, bool whole,
                                           const AllInputs (&inputs)[turns], State (&before)[vector]) {
  State these[vector];
#pragma unroll
  for (u32 k = 0; k < vector; ++k) these[k] = Scanned::none();
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const Scannable values = values_of(inputs[turn]);
    State result[vector];
#pragma unroll
    for (u32 k = 0; k < vector; ++k) {
      const State next = Scanned::both(these[k], values.at[k]);
      result[k] = Scanned::both(before[k], exclusive ? these[k] : next);
      these[k] = next;
    }
    const i64 to = begin.destination + static_cast<i64>(first + turn) * plan.destination.along;
    if (whole) {
      store_results(plan, to, result, {0, vector});
    } else if (first + turn < plan.length && range.begin < range.end) {
      store_results(plan, to, result, range);
    }
  }
#pragma unroll
  for (u32 k = 0; k < vector; ++k) before[k] = Scanned::both(before[k], these[k]);
}

//@ if alone
__device__ __forceinline__ void scan_tile(const Plan& plan) {
  const u32 owners = plan.owners.divisor;
  const Index kept = static_cast<Index>(blockIdx.x) * owners + threadIdx.x;
  const bool exists = threadIdx.x < owners && kept < plan.kept;
  Index across;
  const Place begin = place_of(plan, exists ? kept : 0, across);
  const Range range = range_of(static_cast<i64>(across) * vector, plan.columns);
  State before[vector];
#pragma unroll
  for (u32 k = 0; k < vector; ++k) before[k] = Scanned::none();
#pragma unroll 1
  for (u64 first = 0; first < plan.length; first += turns) {
    const bool whole = range.whole() && first + turns <= plan.length;
    AllInputs inputs[turns]{};
    if (exists) load_rows(plan, begin, first, range, whole, inputs);
    // Warps whose pieces of a row share sectors store them together, while the L2 cache holds the sectors. The barrier takes
    // a bit of the last row, so that it comes after the loads.
    if constexpr (in_step) __syncthreads_or(static_cast<const Input<0>&>(inputs[turns - 1]).bits.word[0] != 0);
    if (exists) store_rows(plan, begin, first, range, whole, inputs, before);
  }
}
//@ else
// Shared memory with the states of the CTA's columns, one row for each phase.
struct Phases {
  State* at;
  u32 width;  // columns of a phase

  // Leaves a thread's states there.
  __device__ __forceinline__ void put(u32 phase, u32 column, const State (&state)[vector]) const {
#pragma unroll
    for (u32 k = 0; k < vector; ++k) at[phase * width + column + k] = state[k];
  }
  // Combines the states of the phases from `first` to `last`, in order.
  __device__ __forceinline__ void add(State (&state)[vector], u32 first, u32 last, u32 column) const {
#pragma unroll 4
    for (u32 phase = first; phase < last; ++phase) {
#pragma unroll
      for (u32 k = 0; k < vector; ++k) state[k] = Scanned::both(state[k], at[phase * width + column + k]);
    }
  }
};

//@ if split
// Phases that have a share of `all`.
__device__ __forceinline__ u32 shares(u32 all, u32 share) {
  return share == 0 ? 0 : (all + share - 1) / share;
}

// Adds to `before`, the carried state of a thread's columns, the phases before its own and the tiles before this one. Each
// phase looks back at a share of the block's units and of the unit's tiles; the first phase publishes the tile's aggregates.
__device__ __forceinline__ void add_before_tile(const Plan& plan, const LookBack<Scanned>& look_back, const Phases& meeting,
                                                u32 phase, u32 column, bool exists, State (&before)[vector]) {
  State all[vector];
#pragma unroll
  for (u32 k = 0; k < vector; ++k) all[k] = before[k];
  if (exists) meeting.add(before, 0, phase, column);
  if (exists && phase == 0) {
    meeting.add(all, 0, plan.phases, column);
#pragma unroll
    for (u32 k = 0; k < vector; ++k) look_back.publish_tile(column + k, all[k]);
  }
  __syncthreads();
  // Each phase looks back at a share of the block's units, then of the unit's tiles.
  State found[vector];
  State unit[vector];
  const u32 units = look_back.place(1);
  const u32 unit_share = (units + plan.phases - 1) / plan.phases;
  const u32 unit_tiles = look_back.place(0);
  const u32 share = (unit_tiles + plan.phases - 1) / plan.phases;
  if (exists) {
#pragma unroll
    for (u32 k = 0; k < vector; ++k) {
      unit[k] = look_back.combined(0, least(phase * share, unit_tiles), least(phase * share + share, unit_tiles), column + k);
    }
    meeting.put(phase, column, unit);
  }
  __syncthreads();
#pragma unroll
  for (u32 k = 0; k < vector; ++k) unit[k] = Scanned::none();
  if (exists) meeting.add(unit, 0, shares(unit_tiles, share), column);
  if (exists && phase == 0) {
#pragma unroll
    for (u32 k = 0; k < vector; ++k) look_back.publish_unit(column + k, Scanned::both(unit[k], all[k]));
  }
  __syncthreads();
  if (exists) {
#pragma unroll
    for (u32 k = 0; k < vector; ++k) {
      found[k] = look_back.combined(1, least(phase * unit_share, units), least(phase * unit_share + unit_share, units), column + k);
      if (phase == 0) found[k] = Scanned::both(look_back.block_prefix(column + k), found[k]);
    }
    meeting.put(phase, column, found);
  }
  __syncthreads();
#pragma unroll
  for (u32 k = 0; k < vector; ++k) found[k] = Scanned::none();
  if (exists) meeting.add(found, 0, least(shares(units, unit_share) + 1, plan.phases), column);
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    found[k] = Scanned::both(found[k], unit[k]);
    before[k] = Scanned::both(found[k], before[k]);
    if (exists && phase == 0) look_back.publish_block(column + k, Scanned::both(found[k], all[k]));
  }
  __syncthreads();
  if (threadIdx.x == 0) look_back.leave();
}

__device__ __forceinline__ void scan_tile(const Plan& plan, u8* scratch) {
  u32 part = blockIdx.x;
  const u32 group = take(plan.group, part);
  const u32 end_part = part + 1;
  const LookBack<Scanned> look_back{plan.ring, scratch, plan.tiles, plan.groups, group, part, static_cast<u32>(plan.parts)};
//@ else
__device__ __forceinline__ void scan_tile(const Plan& plan) {
  const u32 group = blockIdx.x;
  u64 part = 0;
  const u64 end_part = plan.parts;
//@ end
  extern __shared__ __align__(16) u8 shared[];
  u32 phase = threadIdx.x;
  const u32 owner = take(plan.owners, phase);
  const u32 owners = plan.owners.divisor;
  const Phases meeting{reinterpret_cast<State*>(shared), owners * vector};
  const Index kept = static_cast<Index>(group) * owners + owner;
  const bool exists = kept < plan.kept && phase < plan.phases;
  Index across;
  const Place begin = place_of(plan, exists ? kept : 0, across);
  const Range range = exists ? range_of(static_cast<i64>(across) * vector, plan.columns) : Range{0, 0};
  const u64 rows = static_cast<u64>(plan.phases) * turns;
  State carried[vector];
#pragma unroll
  for (u32 k = 0; k < vector; ++k) carried[k] = Scanned::none();
#pragma unroll 1
  for (; part < end_part; ++part) {
    const u64 first = part * rows + phase * turns;
    AllInputs inputs[turns];
    const bool whole = range.whole() && first + turns <= plan.length;
    load_rows(plan, begin, first, range, whole, inputs);
    State before[vector];
    State own[vector];
#pragma unroll
    for (u32 k = 0; k < vector; ++k) own[k] = Scanned::none();
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      const Scannable values = values_of(inputs[turn]);
      if (!whole && first + turn >= plan.length) continue;
#pragma unroll
      for (u32 k = 0; k < vector; ++k) own[k] = Scanned::both(own[k], values.at[k]);
    }
#pragma unroll
    for (u32 k = 0; k < vector; ++k) before[k] = carried[k];
//@ if split
    look_back.wait_for_slots(threadIdx.x);
//@ end
    const u32 column = owner * vector;
    if (phase < plan.phases) meeting.put(phase, column, own);
    __syncthreads();
//@ if split
    add_before_tile(plan, look_back, meeting, phase, column, exists, before);
//@ else
    if (exists) {
      meeting.add(before, 0, phase, column);
      meeting.add(carried, 0, plan.phases, column);
    }
    __syncthreads();
//@ end
    store_rows(plan, begin, first, range, whole, inputs, before);
  }
//@ if split
  look_back.clear();
//@ end
}
//@ end

}  // namespace tmajit
