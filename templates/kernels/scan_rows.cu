// scan along rows: combines each element with its predecessors. Elements are values of an expression, computed as they are loaded.
//
// A warp owns `turns` times 32 neighbouring vectors. Its lanes scan the vectors' aggregates by shuffles, and the CTA scans
// the warps' aggregates through shared memory.
//@ if packed
// A tile has whole rows.
//@ else
//@ if split
// Tiles of one row run at once: each looks back at the aggregates of the tiles before it (look_back.cuh).
//@ else
// A CTA takes the tiles of a row one after the other.
//@ end
//@ end
// Elements stay in registers as they were loaded. A thread combines them once for the aggregate, and once more, from the
// prefix on, for the results.
//@ # Facts of the kernel: those of scan_elements.cuh, turns and exclusive; of packed rows `farthest`, the farthest lane that one needs.
//@ if split
#include "tmajit/bulk.cuh"
#include "tmajit/look_back.cuh"
//@ end
#include "tmajit/scan_elements.cuh"
#include "tmajit/shuffles.cuh"

namespace tmajit {

// One vector of a CTA's tile.
struct Item {
  i64 destination;  // bytes
  Range range;
//@ if packed
  u32 reach;  // vectors before it that have elements of its first element's row
  bool head;  // whether a row begins in it
//@ end
//@ if crosses
  u32 next;  // its first element that begins a row
//@ end
};

// The tile of a CTA.
struct Tile {
//@ if packed
  u64 first;  // row
  u32 rows;
//@ else
  i64 first;  // element of the row that its first vector has
//@ end
//@ if dense
  u32 before;  // elements that its first vector has before the first row
//@ end
//@ if !packed
  Place row;
//@ else
//@ if dense
  Place row;
//@ end
//@ end
};

//@ if packed
// Vector n; `place` becomes where it is.
__device__ __forceinline__ Item item_of(const Plan& plan, const Tile& tile, u32 n, Place& place) {
//@ else
// Vector n; `place` becomes where it is. whole: the row has all elements of the tile.
template <bool whole>
__device__ __forceinline__ Item item_of(const Plan& plan, const Tile& tile, i64 n, Place& place) {
//@ end
  Item item{};
//@ if packed
//@ if dense
  const i64 first = static_cast<i64>(n) * vector - tile.before;
  place = moved(plan, tile.row, first);
  item.range = range_of(first, static_cast<i64>(tile.rows) * plan.length);
  // Elements before the first row count as the end of a row.
  const u32 length = plan.row.divisor;
  u32 rest = n * vector + (vector + length) / length * length - tile.before;
  const u32 in_row = take(plan.row, rest);
  item.reach = (in_row + vector - 1) / vector;
//@ if crosses
  item.next = in_row == 0 ? 0 : length - in_row;
  item.head = item.next < vector;
//@ else
  item.head = in_row == 0;
//@ end
//@ else
  u32 row = n;
  const u32 across = take(plan.row, row);
  const bool exists = row < tile.rows;
  Index unused;
  const Place begin = place_of(plan, exists ? static_cast<Index>(tile.first + row) : 0, unused);
  i64 first = static_cast<i64>(across) * vector;
//@ if staggered
  first -= elements_before(plan, begin);
//@ end
  place = moved(plan, begin, first);
  item.range = exists ? range_of(first, plan.length) : Range{0, 0};
  item.reach = across;
  item.head = across == 0;
//@ end
//@ else
  const i64 first = tile.first + n * vector;
  place = moved(plan, tile.row, first);
  item.range = whole ? Range{0, vector} : range_of(first, plan.length);
//@ end
  item.destination = place.destination;
  return item;
}

// The combined elements of a vector: of its last row only, if a row begins in the vector.
__device__ __forceinline__ State total_of(const Plan& plan, const Scannable& values, const Item& item, Range range) {
  State total = Scanned::none();
//@ if crosses
  u32 next = item.next;
//@ end
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
//@ if crosses
    if (k == next) {
      total = Scanned::none();
//@ if short_rows
      next += plan.row.divisor;
//@ end
    }
//@ end
    if (k >= range.begin && k < range.end) total = Scanned::both(total, values.at[k]);
  }
  return total;
}

__device__ __forceinline__ void scan_vector(const Plan& plan, const Scannable& values, const Item& item, State before,
                                            Range range) {
  State result[vector];
//@ if crosses
  u32 next = item.next;
//@ end
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
//@ if crosses
    if (k == next) {
      before = Scanned::none();
//@ if short_rows
      next += plan.row.divisor;
//@ end
    }
//@ end
    if (exclusive) result[k] = before;
    if (k >= range.begin && k < range.end) before = Scanned::both(before, values.at[k]);
    if (!exclusive) result[k] = before;
  }
  store_results(plan, item.destination, result, range);
}

// The combined vectors of a warp.
struct WarpTotal {
  State state;
//@ if packed
  u32 head;  // whether a row begins in them: the state is then of the last row
//@ end
};
constexpr u32 most_warps = 16;
// Shared memory by which warps exchange their totals, and the state before the tile.
struct Meeting {
  WarpTotal total[most_warps];
  State before;
};

//@ if split
// Brings elements of the tile's row from `first` on into the L2 cache, where they are neighbours in memory.
template <u32... i>
__device__ __forceinline__ void prefetch(const Plan& plan, const Tile& tile, i64 first, u32 elements, Indices<i...>) {
  const Place place = moved(plan, tile.row, first);
  const auto bring = [&](const u8* from, i32 run, u32 element_bytes) {
    if (run == 0) return;
    const u64 low = reinterpret_cast<u64>(run > 0 ? from : from - (elements - 1) * element_bytes);
    const u64 begin = (low + 15) / 16 * 16;
    ptx::bulk_prefetch(reinterpret_cast<const void*>(begin), static_cast<u32>(low + elements * element_bytes - begin) / 16 * 16);
  };
  (bring(plan.source[i].first + place.source[i], Source<i>::run, sizeof(SourceBits<i>)), ...);
}

// The tile of the CTA. whole: the row has all of its elements.
template <bool whole>
__device__ __forceinline__ void scan_row(const Plan& plan, const Tile& tile, const LookBack<Scanned>& look_back,
                                         Meeting& meeting) {
//@ else
// The tile of the CTA, after what `carried` is of its row; `carried` becomes what comes before the next tile.
//@ if !packed
// whole: the row has all of the tile's elements.
template <bool whole>
//@ end
__device__ __forceinline__ void scan_row(const Plan& plan, const Tile& tile, State& carried, Meeting& meeting) {
//@ end
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  const u32 warps = blockDim.x / 32;
  const u32 own = warp * 32 * turns + lane;
  AllInputs inputs[turns];
  Item items[turns];
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    Place place;
//@ if packed
    items[turn] = item_of(plan, tile, own + turn * 32, place);
//@ else
    items[turn] = item_of<whole>(plan, tile, static_cast<i64>(own) + turn * 32, place);
//@ end
    load_inputs(inputs[turn], plan, place, items[turn].range);
  }
//@ if split
  if (warp == warps - 1) look_back.wait_for_slots(lane);
//@ end
  State before[turns];  // what each vector's first element comes after, in its warp
  WarpTotal total{};
  total.state = Scanned::none();
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const Item& item = items[turn];
    const Scannable values = values_of(inputs[turn]);
    State state = item.range.whole() ? total_of(plan, values, item, {0, vector}) : total_of(plan, values, item, item.range);
//@ if packed
    const u32 own_reach = item.head ? 0 : item.reach;
    const u32 limit = least(own_reach, lane);
#pragma unroll
    for (u32 distance = 1; distance <= farthest; distance *= 2) {
//@ else
    const u32 limit = lane;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
//@ end
      const State other = state_of_lane(state, lane - distance);
      if (distance <= limit) state = Scanned::both(other, state);
    }
    const State previous = state_of_lane(state, lane - 1);
    const State last = state_of_lane(state, 31);
//@ if packed
    before[turn] = lane == 0 || item.reach == 0 ? Scanned::none() : previous;
    if (item.reach > lane) before[turn] = Scanned::both(total.state, before[turn]);
    const bool head = __shfl_sync(~0u, own_reach, 31) <= 31;
    total.state = head ? last : Scanned::both(total.state, last);
    total.head |= head;
//@ else
    before[turn] = lane == 0 ? total.state : Scanned::both(total.state, previous);
    total.state = Scanned::both(total.state, last);
//@ end
  }
  if (lane == 0) meeting.total[warp] = total;
  __syncthreads();
  State before_warp = Scanned::none();
  State all = Scanned::none();
#pragma unroll 4
  for (u32 w = 0; w < warps; ++w) {
    if (w == warp) before_warp = all;
//@ if packed
    if (meeting.total[w].head != 0) all = Scanned::none();
//@ end
    all = Scanned::both(all, meeting.total[w].state);
  }
//@ if split
  if (warp == warps - 1) {
    const State before = look_back.before_tile(all);
    if (lane == 0) meeting.before = before;
  }
  __syncthreads();
  before_warp = Scanned::both(meeting.before, before_warp);
  if (threadIdx.x == 0) look_back.leave();
//@ else
//@ if !packed
  before_warp = Scanned::both(carried, before_warp);
  carried = Scanned::both(carried, all);
//@ end
//@ end
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const Item& item = items[turn];
    const Scannable values = values_of(inputs[turn]);
//@ if packed
    const State first = item.reach > lane + turn * 32 ? Scanned::both(before_warp, before[turn]) : before[turn];
//@ else
    const State first = Scanned::both(before_warp, before[turn]);
//@ end
    if (item.range.whole()) {
      scan_vector(plan, values, item, first, {0, vector});
//@ if cut
    } else if (item.range.begin < item.range.end) {
      scan_vector(plan, values, item, first, item.range);
//@ end
    }
  }
}

//@ if split
__device__ __forceinline__ void scan_tile(const Plan& plan, u8* scratch) {
//@ else
__device__ __forceinline__ void scan_tile(const Plan& plan) {
//@ end
  __shared__ Meeting meeting[2];
  Tile tile;
//@ if packed
  tile.first = static_cast<u64>(blockIdx.x) * plan.rows;
  const u64 rest = plan.kept - tile.first;
  tile.rows = rest < plan.rows ? static_cast<u32>(rest) : plan.rows;
//@ if dense
  tile.row = moved(plan, {}, static_cast<i64>(tile.first * plan.length));
  tile.before = 0;
//@ if staggered
  tile.before = elements_before(plan, tile.row);
//@ end
//@ end
  State carried = Scanned::none();
  scan_row(plan, tile, carried, meeting[0]);
//@ else
  const i64 elements = static_cast<i64>(blockDim.x) * turns * vector;
//@ if split
  u32 part = blockIdx.x;
  const u32 group = take(plan.group, part);
  Index unused;
  tile.row = place_of(plan, group, unused);
  tile.first = part * elements;
//@ if staggered
  tile.first -= elements_before(plan, tile.row);
//@ end
  const LookBack<Scanned> look_back{plan.ring, scratch, plan.tiles, plan.groups, group, part, static_cast<u32>(plan.parts)};
  const bool whole = tile.first >= 0 && tile.first + elements <= static_cast<i64>(plan.length);
  if (threadIdx.x == 0 && plan.ahead > 0) {
    const i64 first = tile.first + plan.ahead * elements;
    if (first >= 0 && first + elements <= static_cast<i64>(plan.length)) {
      prefetch(plan, tile, first, static_cast<u32>(elements), AllSources{});
    }
  }
  if (whole) {
    scan_row<true>(plan, tile, look_back, meeting[0]);
  } else {
    scan_row<false>(plan, tile, look_back, meeting[0]);
  }
  look_back.clear();
//@ else
  Index unused;
  tile.row = place_of(plan, blockIdx.x, unused);
  tile.first = 0;
//@ if staggered
  tile.first -= elements_before(plan, tile.row);
//@ end
  State carried = Scanned::none();
#pragma unroll 1
  for (u64 part = 0; part < plan.parts; ++part) {
    if (tile.first >= 0 && tile.first + elements <= static_cast<i64>(plan.length)) {
      scan_row<true>(plan, tile, carried, meeting[part % 2]);
    } else {
      scan_row<false>(plan, tile, carried, meeting[part % 2]);
    }
    tile.first += elements;
  }
//@ end
//@ end
}

}  // namespace tmajit
