// scan along rows: combines each element with its predecessors. Elements are values of an expression, computed as they are loaded.
//
//   source --turns vectors of a thread at once--> registers --evaluate()--> values of a vector --combined--> its aggregate
//     --shuffles--> prefixes of a warp's vectors; the warp's aggregate --shared memory, one barrier--> prefixes of the warps
//     --Prefix: from the row's tiles before this one--> each vector's prefix, combined with its values again --> destination
//
// A warp owns 32 * turns neighbouring vectors. If whole rows fill its 32 lanes, warps exchange nothing. Sources are read once: their
// elements stay in registers between both passes.
//@ # The kernel's facts define the names that scan_elements.cuh lists, turns, exclusive, farthest,
//@ # within_warps, RowAlignment and StartsInVector. For staggered rows they also define Anchor, for whole rows Tile.
#include "tmajit/bulk.cuh"
#include "tmajit/look_back.cuh"
#include "tmajit/scan_elements.cuh"
#include "tmajit/shuffles.cuh"

namespace tmajit {

// ---- places ----

// Bytes from one element to the next: a constant where elements are neighbours.
template <class Operand>
__device__ __forceinline__ i64 step_of(i64 along) {
  return Operand::run != 0 ? Operand::run * static_cast<i64>(sizeof(typename Operand::Element)) : along;
}
template <u32... i>
__device__ __forceinline__ Place moved_along(const Plan& plan, Place place, i64 elements, Indices<i...>) {
  place.destination += elements * step_of<Destination>(plan.destination.along);
  ((place.source[i] += elements * step_of<Source<i>>(plan.source[i].along)), ...);
  return place;
}
__device__ __forceinline__ Place moved(const Plan& plan, const Place& place, i64 elements) {
  return moved_along(plan, place, elements, AllSources{});
}

// Each row begins at a multiple of its vectors' bytes.
struct AlignedRows {
  // Elements that the first vector of a row has before the row.
  static __device__ __forceinline__ u32 before(const Plan&, const Place&) { return 0; }
};
// Rows begin anywhere. Their vectors begin at multiples of the vectors' bytes in the operand Anchor.
struct StaggeredRows {
  static __device__ __forceinline__ u32 before(const Plan& plan, const Place& row) {
    const u64 at = Anchor::operand == 0
                       ? reinterpret_cast<u64>(plan.destination.first) + row.destination
                       : reinterpret_cast<u64>(plan.source[Anchor::operand - (Anchor::operand > 0)].first) +
                             row.source[Anchor::operand - (Anchor::operand > 0)];
    const u32 offset = static_cast<u32>(at / Anchor::bytes) % vector;
    return Anchor::run > 0 ? offset : vector - 1 - offset;
  }
};

// ---- rows that begin inside a vector ----

// No row begins inside a vector.
struct NoRowStarts {
  template <class Item>
  __device__ __forceinline__ explicit NoRowStarts(const Item&) {}
  // The first element of a vector that begins a row, if its element 0 has index `in_row` of a row of `length` elements.
  static __device__ __forceinline__ u32 next(u32 in_row, u32) { return in_row == 0 ? 0 : vector; }
  // Clears `state` if a row begins at element k.
  __device__ __forceinline__ void enter(const Plan&, u32, State&) {}
};
// At most one row begins inside a vector.
struct OneRowStart {
  u32 start;
  template <class Item>
  __device__ __forceinline__ explicit OneRowStart(const Item& item) : start(item.next) {}
  static __device__ __forceinline__ u32 next(u32 in_row, u32 length) { return in_row == 0 ? 0 : length - in_row; }
  __device__ __forceinline__ void enter(const Plan&, u32 k, State& state) {
    if (k == start) state = Scanned::identity();
  }
};
// Rows are shorter than a vector: several may begin in one.
struct ManyRowStarts : OneRowStart {
  using OneRowStart::OneRowStart;
  __device__ __forceinline__ void enter(const Plan& plan, u32 k, State& state) {
    if (k == start) {
      state = Scanned::identity();
      start += plan.row.divisor;
    }
  }
};

// ---- tiles ----

// A CTA's tile of whole rows. A warp's aggregate is that of the last row in its vectors.
struct WholeRows {
  static constexpr bool rows_within_warps = within_warps;
  // One vector of the tile.
  struct Item {
    i64 destination;  // bytes
    Range range;
    u32 reach;  // vectors before it that have elements of its first element's row
    u32 next;   // its first element that begins a row; `vector` if none does
    __device__ __forceinline__ bool has_row_start() const { return next < vector; }
  };
  // The combined vectors of a warp.
  struct Aggregate {
    State state;
    u32 has_row_start;
    __device__ __forceinline__ State after(const State& before) const {
      return Scanned::combine(has_row_start != 0 ? Scanned::identity() : before, state);
    }
  };
  u64 first;  // row
  u32 rows;

  __device__ __forceinline__ explicit WholeRows(const Plan& plan) : first(static_cast<u64>(blockIdx.x) * plan.rows) {
    const u64 rest = plan.lines - first;
    rows = rest < plan.rows ? static_cast<u32>(rest) : plan.rows;
  }
  // Lanes before this one whose vectors combine with the item's.
  static __device__ __forceinline__ u32 lanes_before(const Item& item, u32 lane) {
    return least(item.has_row_start() ? 0 : item.reach, lane);
  }
  // The state before an item, from the lane before it and the warp's vectors of earlier turns.
  static __device__ __forceinline__ State before(const Item& item, u32 lane, const State& previous, const Aggregate& earlier) {
    const State state = lane == 0 || item.reach == 0 ? Scanned::identity() : previous;
    return item.reach > lane ? Scanned::combine(earlier.state, state) : state;
  }
  // Appends a warp's vectors of one turn; `last` is the last lane's state.
  static __device__ __forceinline__ void append(Aggregate& aggregate, const Item& item, const State& last) {
    const bool has_row_start = __shfl_sync(~0u, item.has_row_start() ? 0 : item.reach, 31) <= 31;
    aggregate.state = has_row_start ? last : Scanned::combine(aggregate.state, last);
    aggregate.has_row_start |= has_row_start;
  }
  // The state before an item, from the state before its warp and the state in the warp before the item.
  static __device__ __forceinline__ State from_warp(const Item& item, u32 lane_and_turn, const State& before_warp, const State& before) {
    return item.reach > lane_and_turn ? Scanned::combine(before_warp, before) : before;
  }
};

// Rows that are contiguous in memory, one after the other: a vector may have elements of several rows.
struct DenseRows : WholeRows {
  Place row;         // of the first row
  u32 before_first;  // elements of the first vector before the first row

  __device__ __forceinline__ explicit DenseRows(const Plan& plan)
      : WholeRows(plan), row(moved(plan, {}, static_cast<i64>(first * plan.length))), before_first(RowAlignment::before(plan, row)) {}

  // Vector `number` of the tile; `place` becomes its place.
  __device__ __forceinline__ Item item(const Plan& plan, i64 number, Place& place) const {
    const u32 n = static_cast<u32>(number);
    const i64 element = static_cast<i64>(n) * vector - before_first;
    place = moved(plan, row, element);
    // Elements before the first row are treated as the end of a row.
    const u32 length = plan.row.divisor;
    u32 rest = n * vector + (vector + length) / length * length - before_first;
    const u32 in_row = take(plan.row, rest);
    return {place.destination, Edges::range(element, static_cast<i64>(rows) * plan.length), (in_row + vector - 1) / vector,
            StartsInVector::next(in_row, length)};
  }
};

// Rows anywhere in memory: each has vectors of its own.
struct SeparateRows : WholeRows {
  using WholeRows::WholeRows;

  __device__ __forceinline__ Item item(const Plan& plan, i64 n, Place& place) const {
    u32 row = static_cast<u32>(n);
    const u32 across = take(plan.row, row);
    const bool exists = row < rows;
    Index unused;
    const Place begin = place_of(plan, exists ? static_cast<Index>(first + row) : 0, unused);
    const i64 element = static_cast<i64>(across) * vector - RowAlignment::before(plan, begin);
    place = moved(plan, begin, element);
    return {place.destination, exists ? Edges::range(element, plan.length) : Range{0, 0}, across, across == 0 ? 0 : vector};
  }
};

// A tile of one long row. The state before it comes from the row's earlier tiles.
struct RowTile {
  static constexpr bool rows_within_warps = false;
  struct Item {
    i64 destination;  // bytes
    Range range;
  };
  struct Aggregate {
    State state;
    __device__ __forceinline__ State after(const State& before) const { return Scanned::combine(before, state); }
  };
  Place row;
  i64 first;  // index in the row of the first element of the tile's first vector

  static __device__ __forceinline__ u32 lanes_before(const Item&, u32 lane) { return lane; }
  static __device__ __forceinline__ State before(const Item&, u32 lane, const State& previous, const Aggregate& earlier) {
    return lane == 0 ? earlier.state : Scanned::combine(earlier.state, previous);
  }
  static __device__ __forceinline__ void append(Aggregate& aggregate, const Item&, const State& last) {
    aggregate.state = Scanned::combine(aggregate.state, last);
  }
  static __device__ __forceinline__ State from_warp(const Item&, u32, const State& before_warp, const State& before) {
    return Scanned::combine(before_warp, before);
  }
  __device__ __forceinline__ bool is_inside(const Plan& plan, i64 elements) const {
    return first >= 0 && first + elements <= static_cast<i64>(plan.length);
  }
};
// With `whole` the row has all elements of the tile.
template <bool whole>
struct PartOfRow : RowTile {
  __device__ __forceinline__ Item item(const Plan& plan, i64 n, Place& place) const {
    const i64 element = first + n * vector;
    place = moved(plan, row, element);
    return {place.destination, whole ? Range{0, vector} : Edges::range(element, plan.length)};
  }
};

// ---- the state before a tile ----

constexpr u32 most_warps = 16;
// Shared memory by which warps exchange their aggregates, and the state before the tile.
template <class Aggregate>
struct Exchange {
  Aggregate warp[most_warps];
  State before;
};

// Tiles of whole rows: nothing comes before them.
struct NoPrefix {
  __device__ __forceinline__ void prepare(u32, bool) const {}
  // The state before a warp. `before_warp` is that of the tile's elements before the warp, `all` that of all its elements.
  template <class Exchange>
  __device__ __forceinline__ State before(Exchange&, const State&, const State& before_warp, u32, bool) const {
    return before_warp;
  }
};
// One CTA takes the tiles of a row one after the other: it carries the state up to each tile's end.
struct CarriedPrefix {
  State carried = Scanned::identity();
  __device__ __forceinline__ void prepare(u32, bool) const {}
  template <class Exchange>
  __device__ __forceinline__ State before(Exchange&, const State& all, const State& before_warp, u32, bool) {
    const State result = Scanned::combine(carried, before_warp);
    carried = Scanned::combine(carried, all);
    return result;
  }
};
// Tiles of a row run at once: the last warp of each looks back at the aggregates of the tiles before it (look_back.cuh).
struct FoundPrefix {
  LookBack<Scanned> look_back;
  __device__ __forceinline__ void prepare(u32 lane, bool is_last_warp) const {
    if (is_last_warp) look_back.wait_for_slots(lane);
  }
  template <class Exchange>
  __device__ __forceinline__ State before(Exchange& exchange, const State& all, const State& before_warp, u32 lane,
                                          bool is_last_warp) const {
    if (is_last_warp) {
      const State before = before_tile(look_back, all);
      if (lane == 0) exchange.before = before;
    }
    __syncthreads();
    const State result = Scanned::combine(exchange.before, before_warp);
    if (threadIdx.x == 0) look_back.leave();
    return result;
  }
};

// ---- the scan of a tile ----

// The combined elements of a vector: of its last row only, if a row begins in the vector.
template <class Item>
__device__ __forceinline__ State total_of(const Plan& plan, const Scannable& values, const Item& item, Range range) {
  State total = Scanned::identity();
  StartsInVector starts(item);
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    starts.enter(plan, k, total);
    if (k >= range.begin && k < range.end) total = Scanned::combine(total, values.at[k]);
  }
  return total;
}

template <class Item>
__device__ __forceinline__ void scan_vector(const Plan& plan, const Scannable& values, const Item& item, State before,
                                            Range range) {
  State result[vector];
  StartsInVector starts(item);
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    starts.enter(plan, k, before);
    if (exclusive) result[k] = before;
    if (k >= range.begin && k < range.end) before = Scanned::combine(before, values.at[k]);
    if (!exclusive) result[k] = before;
  }
  store_results(plan, item.destination, result, range);
}

template <class Tile, class Prefix, class Exchange>
__device__ __forceinline__ void scan_tile(const Plan& plan, const Tile& tile, Prefix& prefix, Exchange& exchange) {
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  const u32 warps = blockDim.x / 32;
  const u32 own = warp * 32 * turns + lane;
  AllInputs inputs[turns];
  typename Tile::Item items[turns];
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    Place place;
    items[turn] = tile.item(plan, static_cast<i64>(own) + turn * 32, place);
    load_inputs(inputs[turn], plan, place, items[turn].range);
  }
  prefix.prepare(lane, warp == warps - 1);
  State before[turns];  // the state before each vector, from the warp's vectors alone
  typename Tile::Aggregate aggregate{};
  aggregate.state = Scanned::identity();
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const auto& item = items[turn];
    const Scannable values = values_of(inputs[turn]);
    State state = item.range.whole() ? total_of(plan, values, item, {0, vector}) : total_of(plan, values, item, item.range);
    const u32 lanes_before = Tile::lanes_before(item, lane);
#pragma unroll
    for (u32 distance = 1; distance <= farthest; distance *= 2) {
      const State other = state_of_lane(state, lane - distance);
      if (distance <= lanes_before) state = Scanned::combine(other, state);
    }
    const State previous = state_of_lane(state, lane - 1);
    const State last = state_of_lane(state, 31);
    before[turn] = Tile::before(item, lane, previous, aggregate);
    Tile::append(aggregate, item, last);
  }
  State before_warp = Scanned::identity();
  if constexpr (!Tile::rows_within_warps) {
    if (lane == 0) exchange.warp[warp] = aggregate;
    __syncthreads();
    State all = Scanned::identity();
#pragma unroll 4
    for (u32 w = 0; w < warps; ++w) {
      if (w == warp) before_warp = all;
      all = exchange.warp[w].after(all);
    }
    before_warp = prefix.before(exchange, all, before_warp, lane, warp == warps - 1);
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const auto& item = items[turn];
    const Scannable values = values_of(inputs[turn]);
    const State first = Tile::from_warp(item, lane + turn * 32, before_warp, before[turn]);
    if (item.range.whole()) {
      scan_vector(plan, values, item, first, {0, vector});
    } else if (Edges::cuts && item.range.begin < item.range.end) {
      scan_vector(plan, values, item, first, item.range);
    }
  }
}

template <class Prefix, class Exchange>
__device__ __forceinline__ void scan_row_tile(const Plan& plan, const RowTile& tile, bool whole, Prefix& prefix, Exchange& exchange) {
  if (whole) {
    scan_tile(plan, PartOfRow<true>{tile}, prefix, exchange);
  } else {
    scan_tile(plan, PartOfRow<false>{tile}, prefix, exchange);
  }
}

// ---- the kernels ----

// A CTA scans a tile of whole, short rows.
__device__ __forceinline__ void scan_whole_rows(const Plan& plan) {
  __shared__ Exchange<Tile::Aggregate> exchange;
  NoPrefix prefix;
  scan_tile(plan, Tile(plan), prefix, exchange);
}

// A CTA scans a row, tile by tile.
__device__ __forceinline__ void scan_row(const Plan& plan) {
  __shared__ Exchange<RowTile::Aggregate> exchange[2];  // tiles alternate, which saves a barrier for each
  const i64 elements = static_cast<i64>(blockDim.x) * turns * vector;
  Index unused;
  RowTile tile{place_of(plan, blockIdx.x, unused), 0};
  tile.first -= RowAlignment::before(plan, tile.row);
  CarriedPrefix prefix;
#pragma unroll 1
  for (u64 part = 0; part < plan.parts; ++part) {
    scan_row_tile(plan, tile, tile.is_inside(plan, elements), prefix, exchange[part % 2]);
    tile.first += elements;
  }
}

// Prefetches a tile's elements into the L2 cache, from sources where they are contiguous.
template <u32... i>
__device__ __forceinline__ void prefetch(const Plan& plan, const RowTile& tile, u32 elements, Indices<i...>) {
  const Place place = moved(plan, tile.row, tile.first);
  const auto prefetch_run = [&](const u8* from, i32 run, u32 element_bytes) {
    if (run == 0) return;
    const u64 low = reinterpret_cast<u64>(run > 0 ? from : from - (elements - 1) * element_bytes);
    const u64 begin = (low + 15) / 16 * 16;
    ptx::bulk_prefetch(reinterpret_cast<const void*>(begin), static_cast<u32>(low + elements * element_bytes - begin) / 16 * 16);
  };
  (prefetch_run(plan.source[i].first + place.source[i], Source<i>::run, sizeof(SourceBits<i>)), ...);
}

// CTAs scan the tiles of a row at once.
__device__ __forceinline__ void scan_split_row(const Plan& plan, u8* scratch) {
  __shared__ Exchange<RowTile::Aggregate> exchange;
  const i64 elements = static_cast<i64>(blockDim.x) * turns * vector;
  u32 part = blockIdx.x;
  const u32 chain = take(plan.chain, part);
  Index unused;
  RowTile tile{place_of(plan, chain, unused), part * elements};
  tile.first -= RowAlignment::before(plan, tile.row);
  const FoundPrefix prefix{{plan.ring, scratch, plan.tiles, plan.chains, chain, part, static_cast<u32>(plan.parts)}};
  if (threadIdx.x == 0 && plan.prefetch_distance > 0) {
    const RowTile ahead{tile.row, tile.first + plan.prefetch_distance * elements};
    if (ahead.is_inside(plan, elements)) prefetch(plan, ahead, static_cast<u32>(elements), AllSources{});
  }
  scan_row_tile(plan, tile, tile.is_inside(plan, elements), prefix, exchange);
  prefix.look_back.clear();
}

}  // namespace tmajit
