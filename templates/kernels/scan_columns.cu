// scan along columns: combines each element with its predecessors. Elements are values of an expression, computed as they are loaded.
//
//   source --turns rows of a thread at once--> registers --evaluate()--> values --combined--> the thread's aggregates
//     --shared memory: aggregates of the column's earlier phases; Prefix: of its earlier tiles--> state before the thread's rows
//     --combined with the values again--> destination
//
// Neighbouring threads own vectors of neighbouring columns. Threads of different phases share columns: each has `turns` rows.
// In columns that one thread walks by itself, the state stays in its registers. Sources are read once.
//@ # Facts of the kernel: those of scan_elements.cuh, turns, exclusive; in_step where a thread walks columns by itself.
#include "tmajit/look_back.cuh"
#include "tmajit/scan_elements.cuh"

namespace tmajit {

__device__ __forceinline__ Place moved(const Plan& plan, Place place, i64 rows) {
  place.destination += rows * plan.destination.along;
#pragma unroll
  for (u32 s = 0; s < sources; ++s) place.source[s] += rows * plan.source[s].along;
  return place;
}

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
// thus passed few roundings. `before` becomes the state up to the last of these rows.
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

// ---- a thread walks its columns from the first row to the last ----

__device__ __forceinline__ void scan_alone(const Plan& plan) {
  const u32 owners = plan.owners.divisor;
  const Index kept = static_cast<Index>(blockIdx.x) * owners + threadIdx.x;
  const bool exists = threadIdx.x < owners && kept < plan.kept;
  Index across;
  const Place begin = place_of(plan, exists ? kept : 0, across);
  const Range range = Edges::range(static_cast<i64>(across) * vector, plan.columns);
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

// Shared memory with the states of the CTA's columns, one row for each phase.
struct Phases {
  State* at;
  u32 width;  // columns of a phase

  // Stores a thread's states.
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

// The number of phases that have a share of `all`.
__device__ __forceinline__ u32 shares(u32 all, u32 share) {
  return share == 0 ? 0 : (all + share - 1) / share;
}

// Adds to `before`, the identity for each of a thread's columns, the phases before its own and the tiles before this one. Each phase
// looks back at a share of the block's units and of the unit's tiles; the first phase publishes the tile's aggregates.
__device__ __forceinline__ void add_before_tile(const Plan& plan, const LookBack<Scanned>& look_back, const Phases& phases,
                                                u32 phase, u32 column, bool exists, State (&before)[vector]) {
  State all[vector];
#pragma unroll
  for (u32 k = 0; k < vector; ++k) all[k] = before[k];
  if (exists) phases.add(before, 0, phase, column);
  if (exists && phase == 0) {
    phases.add(all, 0, plan.phases, column);
#pragma unroll
    for (u32 k = 0; k < vector; ++k) look_back.publish_tile(column + k, all[k]);
  }
  __syncthreads();
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
    phases.put(phase, column, unit);
  }
  __syncthreads();
#pragma unroll
  for (u32 k = 0; k < vector; ++k) unit[k] = Scanned::none();
  if (exists) phases.add(unit, 0, shares(unit_tiles, share), column);
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
    phases.put(phase, column, found);
  }
  __syncthreads();
#pragma unroll
  for (u32 k = 0; k < vector; ++k) found[k] = Scanned::none();
  if (exists) phases.add(found, 0, least(shares(units, unit_share) + 1, plan.phases), column);
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    found[k] = Scanned::both(found[k], unit[k]);
    before[k] = Scanned::both(found[k], before[k]);
    if (exists && phase == 0) look_back.publish_block(column + k, Scanned::both(found[k], all[k]));
  }
  __syncthreads();
  if (threadIdx.x == 0) look_back.leave();
}

// ---- the state before a tile ----

// A CTA takes the tiles of its columns one after the other: it carries the state up to each tile's end.
struct CarriedPrefix {
  __device__ __forceinline__ void prepare() const {}
  // Adds to `before`, which is `carried` at first, the phases before the thread's own; `carried` becomes the state up to the
  // tile's end.
  __device__ __forceinline__ void add(const Plan& plan, const Phases& phases, u32 phase, u32 column, bool exists,
                                      State (&before)[vector], State (&carried)[vector]) const {
    if (exists) {
      phases.add(before, 0, phase, column);
      phases.add(carried, 0, plan.phases, column);
    }
    __syncthreads();
  }
};
// Tiles of a column run at once: each looks back at the aggregates of the tiles before it (look_back.cuh).
struct FoundPrefix {
  LookBack<Scanned> look_back;
  __device__ __forceinline__ void prepare() const { look_back.wait_for_slots(threadIdx.x); }
  __device__ __forceinline__ void add(const Plan& plan, const Phases& phases, u32 phase, u32 column, bool exists,
                                      State (&before)[vector], State (&)[vector]) const {
    add_before_tile(plan, look_back, phases, phase, column, exists, before);
  }
};

// ---- threads of several phases share columns ----

// Scans tiles `part` to `end` of the columns of `group`.
template <class Part, class Prefix>
__device__ __forceinline__ void scan_parts(const Plan& plan, u32 group, Part part, Part end, const Prefix& prefix) {
  extern __shared__ __align__(16) u8 shared[];
  u32 phase = threadIdx.x;
  const u32 owner = take(plan.owners, phase);
  const u32 owners = plan.owners.divisor;
  const Phases phases{reinterpret_cast<State*>(shared), owners * vector};
  const Index kept = static_cast<Index>(group) * owners + owner;
  const bool exists = kept < plan.kept && phase < plan.phases;
  Index across;
  const Place begin = place_of(plan, exists ? kept : 0, across);
  const Range range = exists ? Edges::range(static_cast<i64>(across) * vector, plan.columns) : Range{0, 0};
  const u64 rows = static_cast<u64>(plan.phases) * turns;
  State carried[vector];
#pragma unroll
  for (u32 k = 0; k < vector; ++k) carried[k] = Scanned::none();
#pragma unroll 1
  for (; part < end; ++part) {
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
    prefix.prepare();
    const u32 column = owner * vector;
    if (phase < plan.phases) phases.put(phase, column, own);
    __syncthreads();
    prefix.add(plan, phases, phase, column, exists, before, carried);
    store_rows(plan, begin, first, range, whole, inputs, before);
  }
}

// A CTA scans its columns tile by tile.
__device__ __forceinline__ void scan_columns(const Plan& plan) {
  scan_parts(plan, blockIdx.x, u64{0}, plan.parts, CarriedPrefix{});
}

// CTAs scan the tiles of a column at once.
__device__ __forceinline__ void scan_split_columns(const Plan& plan, u8* scratch) {
  u32 part = blockIdx.x;
  const u32 group = take(plan.group, part);
  const FoundPrefix prefix{{plan.ring, scratch, plan.tiles, plan.groups, group, part, static_cast<u32>(plan.parts)}};
  scan_parts(plan, group, part, part + 1, prefix);
  prefix.look_back.clear();
}

}  // namespace tmajit
