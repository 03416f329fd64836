// scan along columns: combines each element with its predecessors. Elements are values of an expression, computed as they are loaded.
//
//   source --turns rows of a thread at once--> registers --evaluate()--> values --combined--> the thread's aggregates
//     --shared memory: aggregates of the threads with earlier rows; Prefix: of its earlier tiles--> state before the thread's rows
//     --combined with the values again--> destination
//
// Neighbouring threads own vectors of neighbouring columns. Several threads share a column: each has `turns` rows of it.
// In columns that one thread walks by itself, the state stays in its registers. If rows are narrower than a sector, neighbouring
// lanes take neighbouring rows instead, and exchange their aggregates by shuffles. Sources are read once.
//@ # The kernel's facts define the names that scan_elements.cuh lists, turns and exclusive. If a thread scans
//@ # a column alone, they also define synchronised; if lanes share columns, lanes.
#include "tmajit/look_back.cuh"
#include "tmajit/scan_elements.cuh"
#include "tmajit/shuffles.cuh"

namespace tmajit {

__device__ __forceinline__ Place moved(const Plan& plan, Place place, i64 rows) {
  place.destination += rows * plan.destination.along;
#pragma unroll
  for (u32 s = 0; s < sources; ++s) place.source[s] += rows * plan.source[s].along;
  return place;
}

// Loads the rows of a thread's columns from `first` on. With `whole` all of its columns and rows exist.
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

__device__ __forceinline__ void clear(State (&state)[vector]) {
#pragma unroll
  for (u32 k = 0; k < vector; ++k) state[k] = Scanned::identity();
}

// Combines the elements of each of a thread's columns in these rows.
__device__ __forceinline__ void combine_rows(const Plan& plan, u64 first, bool whole, const AllInputs (&inputs)[turns],
                                             State (&own)[vector]) {
  clear(own);
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const Scannable values = values_of(inputs[turn]);
    if (!whole && first + turn >= plan.length) continue;
#pragma unroll
    for (u32 k = 0; k < vector; ++k) own[k] = Scanned::combine(own[k], values.at[k]);
  }
}

// Combines these rows with each other, then with the rows before them, and stores the results. So a result of a long column
// has few roundings. `before` becomes the state up to the last of these rows.
__device__ __forceinline__ void store_rows(const Plan& plan, const Place& begin, u64 first, Range range, bool whole,
                                           const AllInputs (&inputs)[turns], State (&before)[vector]) {
  State these[vector];
  clear(these);
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const Scannable values = values_of(inputs[turn]);
    State result[vector];
#pragma unroll
    for (u32 k = 0; k < vector; ++k) {
      const State next = Scanned::combine(these[k], values.at[k]);
      result[k] = Scanned::combine(before[k], exclusive ? these[k] : next);
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
  for (u32 k = 0; k < vector; ++k) before[k] = Scanned::combine(before[k], these[k]);
}

// ---- a thread walks its columns from the first row to the last ----

__device__ __forceinline__ void scan_by_threads(const Plan& plan) {
  const u32 threads_across = plan.threads_across.divisor;
  const Index line = static_cast<Index>(blockIdx.x) * threads_across + threadIdx.x;
  const bool exists = threadIdx.x < threads_across && line < plan.lines;
  Index across;
  const Place begin = place_of(plan, exists ? line : 0, across);
  const Range range = Edges::range(static_cast<i64>(across) * vector, plan.columns);
  State before[vector];
  clear(before);
#pragma unroll 1
  for (u64 first = 0; first < plan.length; first += turns) {
    const bool whole = range.whole() && first + turns <= plan.length;
    AllInputs inputs[turns]{};
    if (exists) load_rows(plan, begin, first, range, whole, inputs);
    // Warps whose pieces of a row share sectors store them together, while the L2 cache holds the sectors. The barrier takes
    // a bit of the last row, so that it comes after the loads.
    if constexpr (synchronised) __syncthreads_or(static_cast<const Input<0>&>(inputs[turns - 1]).bits.word[0] != 0);
    if (exists) store_rows(plan, begin, first, range, whole, inputs, before);
  }
}

// ---- the lanes of a warp share columns ----

// `lanes` neighbouring lanes scan the same columns, lanes * turns rows at a time.
__device__ __forceinline__ void scan_by_lanes(const Plan& plan) {
  const u32 warp_lane = threadIdx.x % 32;
  const u32 lane = warp_lane % lanes;
  const Index line = static_cast<Index>(blockIdx.x) * plan.threads_across.divisor + threadIdx.x / lanes;
  const bool owns = line < plan.lines;
  Index across;
  const Place begin = place_of(plan, owns ? line : 0, across);
  const Range range = Edges::range(static_cast<i64>(across) * vector, plan.columns);
  State carried[vector];
  clear(carried);
#pragma unroll 1
  for (u64 part = 0; part < plan.parts; ++part) {
    const u64 first = (part * lanes + lane) * turns;
    const bool exists = owns && first < plan.length;
    const bool whole = range.whole() && first + turns <= plan.length;
    AllInputs inputs[turns]{};
    if (exists) load_rows(plan, begin, first, range, whole, inputs);
    State own[vector];
    combine_rows(plan, first, whole, inputs, own);
    State before[vector];
#pragma unroll
    for (u32 k = 0; k < vector; ++k) {
#pragma unroll
      for (u32 distance = 1; distance < lanes; distance *= 2) {
        const State other = state_of_lane(own[k], warp_lane - distance);
        if (distance <= lane) own[k] = Scanned::combine(other, own[k]);
      }
      const State previous = state_of_lane(own[k], warp_lane - 1);
      before[k] = lane == 0 ? carried[k] : Scanned::combine(carried[k], previous);
      carried[k] = Scanned::combine(carried[k], state_of_lane(own[k], warp_lane | (lanes - 1)));
    }
    if (exists) store_rows(plan, begin, first, range, whole, inputs, before);
  }
}

// Shared memory with states of the CTA's columns: a row for each of the threads that share a column, or for each team of them.
struct StateRows {
  State* at;
  u32 width;  // columns

  __device__ __forceinline__ StateRows after(u32 rows) const { return {at + rows * width, width}; }
  __device__ __forceinline__ State& of(u32 row, u32 column) const { return at[row * width + column]; }
  // Stores a thread's states.
  __device__ __forceinline__ void put(u32 row, u32 column, const State (&state)[vector]) const {
#pragma unroll
    for (u32 k = 0; k < vector; ++k) of(row, column + k) = state[k];
  }
  // Combines the rows [first, last), in order.
  __device__ __forceinline__ void add(State (&state)[vector], u32 first, u32 last, u32 column) const {
#pragma unroll 4
    for (u32 row = first; row < last; ++row) {
#pragma unroll
      for (u32 k = 0; k < vector; ++k) state[k] = Scanned::combine(state[k], of(row, column + k));
    }
  }
  // The combined states of one column in these rows.
  __device__ __forceinline__ State combined(u32 first, u32 last, u32 column) const {
    State all = Scanned::identity();
#pragma unroll 4
    for (u32 row = first; row < last; ++row) all = Scanned::combine(all, of(row, column));
    return all;
  }
};

// Adds to `before` the states of the threads before this one along its columns, and those of the tiles before this one. At first
// `before` is the identity for each of the thread's columns.
// To look back, a thread takes one column, and shares it with one thread of each other team. The first team publishes.
__device__ __forceinline__ void add_before_tile(const Plan& plan, const LookBack<Scanned>& look_back, const StateRows& states,
                                                u32 along, u32 first_column, bool exists, State (&before)[vector]) {
  const u32 column = first_column + along % vector;
  const u32 team = along / vector;
  const u32 teams = plan.threads_along / vector;
  const bool publishes = exists && team == 0;
  const StateRows own = states.after(plan.threads_along);  // this one and the next two have a row for each team
  const StateRows tiles = own.after(teams);
  const StateRows units = tiles.after(teams);
  State prefix = Scanned::identity();
  if (exists) {
    own.of(team, column) = states.combined(team * vector, team * vector + vector, column);
    states.add(before, 0, along, first_column);
  }
  __syncthreads();
  State tile = Scanned::identity();
  if (publishes) {
    tile = own.combined(0, teams, column);
    look_back.publish_tile(column, tile);
  }
  if (exists) tiles.of(team, column) = look_back.share(0, team, teams, column);
  __syncthreads();
  if (publishes) {
    prefix = tiles.combined(0, teams, column);
    look_back.publish_unit(column, Scanned::combine(prefix, tile));
  }
  if (exists) units.of(team, column) = look_back.share(1, team, teams, column);
  __syncthreads();
  if (publishes) {
    prefix = Scanned::combine(units.combined(0, teams, column), prefix);
    prefix = Scanned::combine(look_back.block_prefix(column), prefix);
    look_back.publish_block(column, Scanned::combine(prefix, tile));
    own.of(0, column) = prefix;
  }
  __syncthreads();
  if (exists) {
#pragma unroll
    for (u32 k = 0; k < vector; ++k) before[k] = Scanned::combine(own.of(0, first_column + k), before[k]);
  }
  if (threadIdx.x == 0) look_back.leave();
}

// ---- the state before a tile ----

// A CTA takes the tiles of its columns one after the other: it carries the state up to each tile's end.
struct CarriedPrefix {
  __device__ __forceinline__ void prepare() const {}
  // Adds to `before`, which is `carried` at first, the states of the threads before this one; `carried` becomes the state
  // up to the tile's end. `is_last`: no tile follows.
  __device__ __forceinline__ void add(const Plan& plan, const StateRows& states, u32 along, u32 column, bool exists, bool is_last,
                                      State (&before)[vector], State (&carried)[vector]) const {
    if (exists) {
      states.add(before, 0, along, column);
      if (!is_last) states.add(carried, 0, plan.threads_along, column);
    }
    __syncthreads();
  }
};
// Tiles of a column run at once: each looks back at the aggregates of the tiles before it (look_back.cuh).
struct FoundPrefix {
  LookBack<Scanned> look_back;
  __device__ __forceinline__ void prepare() const { look_back.wait_for_slots(threadIdx.x); }
  __device__ __forceinline__ void add(const Plan& plan, const StateRows& states, u32 along, u32 column, bool exists, bool,
                                      State (&before)[vector], State (&)[vector]) const {
    add_before_tile(plan, look_back, states, along, column, exists, before);
  }
};

// ---- several threads share a column ----

// Scans the tiles [part, end) of the columns of `chain`.
template <class Part, class Prefix>
__device__ __forceinline__ void scan_parts(const Plan& plan, u32 chain, Part part, Part end, const Prefix& prefix) {
  extern __shared__ __align__(16) u8 shared[];
  u32 along = threadIdx.x;
  const u32 position = take(plan.threads_across, along);
  const u32 threads_across = plan.threads_across.divisor;
  const StateRows states{reinterpret_cast<State*>(shared), threads_across * vector};
  const Index line = static_cast<Index>(chain) * threads_across + position;
  const bool exists = line < plan.lines && along < plan.threads_along;
  Index across;
  const Place begin = place_of(plan, exists ? line : 0, across);
  const Range range = exists ? Edges::range(static_cast<i64>(across) * vector, plan.columns) : Range{0, 0};
  const u64 rows = static_cast<u64>(plan.threads_along) * turns;
  State carried[vector];
  clear(carried);
#pragma unroll 1
  for (; part < end; ++part) {
    const u64 first = part * rows + along * turns;
    AllInputs inputs[turns];
    const bool whole = range.whole() && first + turns <= plan.length;
    load_rows(plan, begin, first, range, whole, inputs);
    State before[vector];
    State own[vector];
    combine_rows(plan, first, whole, inputs, own);
#pragma unroll
    for (u32 k = 0; k < vector; ++k) before[k] = carried[k];
    prefix.prepare();
    const u32 column = position * vector;
    if (along < plan.threads_along) states.put(along, column, own);
    __syncthreads();
    prefix.add(plan, states, along, column, exists, part + 1 == end, before, carried);
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
  const u32 chain = take(plan.chain, part);
  const FoundPrefix prefix{{plan.ring, scratch, plan.tiles, plan.chains, chain, part, static_cast<u32>(plan.parts)}};
  scan_parts(plan, chain, part, part + 1, prefix);
  prefix.look_back.clear();
}

}  // namespace tmajit
