// scan: combines each element with those before it in one dimension, computing what they are on the way.
//
//@ if columns
// Neighbouring threads own neighbouring columns; threads of different phases share a column. A thread holds some rows of its
// columns. It leaves their aggregate in shared memory, where it finds the aggregates of the phases before its own.
//@ else
// A warp owns `turns` times 32 neighbouring vectors. Its lanes scan the vectors' aggregates by shuffles, and the CTA scans
// the warps' aggregates through shared memory.
//@ end
//@ if packed
// A tile has whole rows.
//@ else
//@ if split
// Tiles of one row or column run at once: each looks back at the aggregates of the tiles before it (look_back.cuh).
//@ else
// A CTA takes the tiles of a row, or of its columns, one after the other.
//@ end
//@ end
// Elements stay in registers as they were loaded. A thread combines them once for the aggregate, and once more, from the
// prefix on, for the results.
//@ # Facts of the kernel: Index, vector, turns, exclusive, Scanner, Anchor, Destination, Source<i>, AllSources, evaluate().
#include "tmajit/division.cuh"
#include "tmajit/look_back.cuh"
#include "tmajit/scan_plan.cuh"
#include "tmajit/scanners.cuh"
#include "tmajit/values.cuh"

namespace tmajit {

constexpr u32 sources = AllSources::count;
using Plan = params::ScanPlan<sources>;

// Elements that are converted at once, of which a vector may have only the first.
constexpr u32 held = vector < 2 ? 2 : vector;

template <u32... i>
__device__ __forceinline__ auto front(Indices<i...>) {
  return evaluate(Value<typename Source<i>::Element>{}...);
}
using Scanned = Scanner<typename Counted<decltype(front(AllSources{}))>::type>;
using State = Scanned::State;

// ---- where elements are ----

// Bytes from where the views begin.
struct Place {
  i64 destination;
  i64 source[sources];
};

//@ if wide
__device__ __forceinline__ u64 take_index(u64 extent, const params::Divider&, u64& n) {
  const u64 whole = n;
  n = whole / extent;
  return whole - n * extent;
}
//@ else
__device__ __forceinline__ u32 take_index(u64, const params::Divider& count, u32& n) {
  return take(count, n);
}
//@ end

// Row n, or vector n of columns. The first digit's index is left in `across`.
__device__ __forceinline__ Place place_of(const Plan& plan, Index n, Index& across) {
  Place place{};
  across = 0;
#pragma unroll 1
  for (u32 d = 0; d < plan.digits; ++d) {
    const Index index = d + 1 == plan.digits ? n : take_index(plan.digit[d].extent, plan.digit[d].count, n);
    if (d == 0) across = index;
    place.destination += static_cast<i64>(index) * plan.digit[d].destination;
#pragma unroll
    for (u32 s = 0; s < sources; ++s) place.source[s] += static_cast<i64>(index) * plan.digit[d].source[s];
  }
  return place;
}

//@ if columns
__device__ __forceinline__ Place moved(const Plan& plan, Place place, i64 elements) {
  place.destination += elements * plan.destination.along;
#pragma unroll
  for (u32 s = 0; s < sources; ++s) place.source[s] += elements * plan.source[s].along;
  return place;
}
//@ else
// Bytes from one element to the next: a number that the compiler knows where elements are neighbours.
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
//@ end

// The elements of a vector that exist.
struct Range {
  u32 begin;
  u32 end;
  __device__ __forceinline__ bool whole() const { return begin == 0 && end == vector; }
};

// The range of elements of a vector that lie in a row: `first` is the index of the vector's first element, `count` the row's length.
__device__ __forceinline__ Range range_of(i64 first, i64 count) {
//@ if cut
  const i64 rest = count - first;
  return {first < 0 ? least(static_cast<u32>(-first), vector) : 0,
          rest >= vector ? vector : rest < 0 ? 0 : static_cast<u32>(rest)};
//@ else
  return {0, first < count ? vector : 0};
//@ end
}

//@ if staggered
// Elements that the first vector of a row has before the row, for vectors to begin at multiples of their bytes.
__device__ __forceinline__ u32 elements_before(const Plan& plan, const Place& row) {
  const u64 at = Anchor::operand == 0
                     ? reinterpret_cast<u64>(plan.destination.first) + row.destination
                     : reinterpret_cast<u64>(plan.source[Anchor::operand - (Anchor::operand > 0)].first) +
                           row.source[Anchor::operand - (Anchor::operand > 0)];
  const u32 phase = static_cast<u32>(at / Anchor::bytes) % vector;
  return Anchor::run > 0 ? phase : vector - 1 - phase;
}
//@ end

// ---- loads and stores ----

template <u32 i>
using SourceBits = typename Bits<sizeof(typename Source<i>::Element)>::Type;

template <u32 i>
struct Input {
  Raw<sizeof(typename Source<i>::Element), held> bits;
};
template <u32... i>
struct Inputs : Input<i>... {};
template <u32... i>
__device__ Inputs<i...> inputs_of(Indices<i...>);
using AllInputs = decltype(inputs_of(AllSources{}));

// Whether a vector of elements of so many bytes is one run of memory that a load or store takes whole.
__device__ constexpr bool is_vector(i32 run, u32 element_bytes) {
  return run != 0 && vector > 1 && vector * element_bytes >= 4;
}
// Where element k of a vector is in the run that it is loaded or stored as.
__device__ constexpr u32 in_run(i32 run, u32 element_bytes, u32 k) {
  return is_vector(run, element_bytes) && run < 0 ? vector - 1 - k : k;
}

template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Place& place, Range range) {
  constexpr u32 bytes = sizeof(SourceBits<i>);
  const u8* from = plan.source[i].first + place.source[i];
  if constexpr (is_vector(Source<i>::run, bytes)) {
    if (range.whole()) {
      load_words<least(bytes * vector, 16)>(input.bits.word, Source<i>::run > 0 ? from : from - (vector - 1) * bytes);
      return;
    }
  }
  SourceBits<i> loaded[vector];
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    loaded[k] = 0;
//@ if !cut
    if constexpr (is_vector(Source<i>::run, bytes)) continue;
//@ end
    if (k >= range.begin && k < range.end) {
      loaded[k] = *reinterpret_cast<const SourceBits<i>*>(from + static_cast<i64>(k) * plan.source[i].across);
    }
  }
  input.bits = {};
#pragma unroll
  for (u32 k = 0; k < vector; ++k) input.bits.set(in_run(Source<i>::run, bytes, k), loaded[k]);
}
template <u32... i>
__device__ __forceinline__ void load_inputs(Inputs<i...>& inputs, const Plan& plan, const Place& place, Range range) {
  (load_input<i>(inputs, plan, place, range), ...);
}

// The scanned values of a vector's elements.
struct Scannable {
  State at[vector];
};
template <u32... i>
__device__ __forceinline__ Scannable values_of(const Inputs<i...>& inputs) {
  AllValues<held, i...> values;
  (packed<typename Source<i>::Element, held>(static_cast<const Input<i>&>(inputs).bits)
       .decode(static_cast<SourceValues<i, held>&>(values).at),
   ...);
  Scannable scannable;
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    scannable.at[k] = Scanned::of(
        evaluate(static_cast<SourceValues<i, held>&>(values).at[in_run(Source<i>::run, sizeof(SourceBits<i>), k)]...), 0);
  }
  return scannable;
}

__device__ __forceinline__ void store_results(const Plan& plan, i64 offset, const State (&result)[vector], Range range) {
  using Element = Destination::Element;
  constexpr u32 bytes = sizeof(Element);
  Value<Element> values[held] = {};
#pragma unroll
  for (u32 k = 0; k < vector; ++k) values[in_run(Destination::run, bytes, k)] = result_of(Scanned::result(result[k], 0));
  Pack<Element, held> pack;
  pack.encode(values);
  const Raw<bytes, held> bits = raw<Element, held>(pack);
  u8* const to = plan.destination.first + offset;
  const auto store_elements = [&] {
#pragma unroll
    for (u32 k = 0; k < vector; ++k) {
      if (k < range.begin || k >= range.end) continue;
      *reinterpret_cast<typename Bits<bytes>::Type*>(to + static_cast<i64>(k) * plan.destination.across) =
          bits.get(in_run(Destination::run, bytes, k));
    }
  };
  if constexpr (is_vector(Destination::run, bytes)) {
    if (range.whole()) {
      store_raw<least(bytes * vector, 16)>(Destination::run > 0 ? to : to - (vector - 1) * bytes, bits);
//@ if cut
    } else {
      store_elements();
//@ end
    }
  } else {
    store_elements();
  }
}

//@ if !columns
// ---- rows ----

// One vector of a CTA's tile.
struct Item {
  i64 destination;  // bytes
  Range range;
//@ if packed
  u32 reach;  // vectors before it that have elements of its first element's row
  bool head;  // whether a row begins in it
//@ end
//@ if dense
  u32 in_row;  // its first element's index in its row
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
  item.in_row = take(plan.row, rest);
  item.reach = (item.in_row + vector - 1) / vector;
  item.head = item.in_row == 0 || item.in_row + vector > length;
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

// The combined elements of a vector; where a row begins in it, those of the last row.
__device__ __forceinline__ State total_of(const Plan& plan, const Scannable& values, const Item& item, Range range) {
  State total = Scanned::none();
//@ if dense
  u32 in_row = item.in_row;
//@ end
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
//@ if dense
    if (in_row == 0) total = Scanned::none();
    in_row = in_row + 1 == plan.row.divisor ? 0 : in_row + 1;
//@ end
    if (k >= range.begin && k < range.end) total = Scanned::both(total, values.at[k]);
  }
  return total;
}

__device__ __forceinline__ void scan_vector(const Plan& plan, const Scannable& values, const Item& item, State before,
                                            Range range) {
  State result[vector];
//@ if dense
  u32 in_row = item.in_row;
//@ end
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
//@ if dense
    if (in_row == 0) before = Scanned::none();
    in_row = in_row + 1 == plan.row.divisor ? 0 : in_row + 1;
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
//@ else
    const u32 limit = lane;
//@ end
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
      const State other = shuffled(state, lane - distance);
      if (distance <= limit) state = Scanned::both(other, state);
    }
    const State previous = shuffled(state, lane - 1);
    const State last = shuffled(state, 31);
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
//@ else
// ---- columns ----

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
    if (whole) {
#pragma unroll
      for (u32 turn = 0; turn < turns; ++turn) load_inputs(inputs[turn], plan, moved(plan, begin, first + turn), {0, vector});
    } else {
#pragma unroll
      for (u32 turn = 0; turn < turns; ++turn) {
        load_inputs(inputs[turn], plan, moved(plan, begin, first + turn), first + turn < plan.length ? range : Range{0, 0});
      }
    }
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
//@ else
    if (exists) {
      meeting.add(before, 0, phase, column);
      meeting.add(carried, 0, plan.phases, column);
    }
    __syncthreads();
//@ end
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      const Scannable values = values_of(inputs[turn]);
      State result[vector];
#pragma unroll
      for (u32 k = 0; k < vector; ++k) {
        const State next = Scanned::both(before[k], values.at[k]);
        result[k] = exclusive ? before[k] : next;
        before[k] = next;
      }
      const i64 to = begin.destination + static_cast<i64>(first + turn) * plan.destination.along;
      if (whole) {
        store_results(plan, to, result, {0, vector});
      } else if (first + turn < plan.length && range.begin < range.end) {
        store_results(plan, to, result, range);
      }
    }
  }
//@ if split
  look_back.clear();
//@ end
}
//@ end

}  // namespace tmajit
