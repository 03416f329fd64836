// reduce: brings elements of some dimensions together, computing what they are on the way.
//
//@ if columns
// Threads side by side take items side by side in what is kept, and those one behind the other share the reduced ones.
//@ else
// Threads side by side share the items that come together, which lie side by side in memory where they can.
//@ end
// A thread has some items under way at once; what threads keep of theirs comes together in a fixed order.
//@ if split
//
// Several CTAs share what comes together. Each leaves its part in scratch memory, and the last one that does puts all of
// them together, by their numbers: which CTA that is changes nothing.
//@ end
//@ # Facts of the kernel: Index, vector, turns, reduced_digits unless they are counted, Reducer, Destination, Source<i>,
//@ # AllSources, evaluate(), behind().
#include "tmajit/division.cuh"
#include "tmajit/meeting.cuh"
#include "tmajit/reduced_result.cuh"
#include "tmajit/reducers.cuh"
#include "tmajit/reduction_plan.cuh"
#include "tmajit/thread_vectors.cuh"

namespace tmajit {

using Plan = params::ReductionPlan<sources>;

template <u32... i>
__device__ __forceinline__ auto front(Indices<i...>) {
  return evaluate(Value<typename Source<i>::Element>{}...);
}
using Front = decltype(front(AllSources{}));
using Reduced = Reducer<Front>;
using State = Reduced::State;

//@ if columns
constexpr u32 results = vector;  // of a thread
constexpr u32 states = vector;
//@ else
constexpr u32 results = 1;  // of a thread
constexpr u32 states = least(vector, 4);  // which depend on each other's last little
//@ end

// ---- items ----

// Where an item is, from where the views begin, and what of it exists.
struct Item {
  i64 source[sources];  // bytes
  i64 place;
  Index along;  // vectors of its row before it
};

// What digit d of a number adds to an item: the last digit is what the others have left of it.
__device__ __forceinline__ void add_digit(Item& item, const Plan& plan, u32 d, bool is_last, Index& n) {
  const Index index = is_last ? n : take_index(plan.digit[d].extent, plan.digit[d].count, n);
  if (d == 0 || d == plan.reduced_digits) item.along = index;
#pragma unroll
  for (u32 s = 0; s < sources; ++s) item.source[s] += static_cast<i64>(index) * plan.digit[d].source[s];
  item.place += static_cast<i64>(index) * plan.digit[d].place;
}

// The same of all digits of an item of what is kept.
__device__ __forceinline__ void add_kept(Item& item, const Plan& plan, Index n) {
#pragma unroll 1
  for (u32 d = plan.reduced_digits; d < plan.digits; ++d) add_digit(item, plan, d, d + 1 == plan.digits, n);
}

// And of one of what is reduced.
__device__ __forceinline__ void add_reduced(Item& item, const Plan& plan, Index n) {
//@ if counted
#pragma unroll 1
  for (u32 d = 0; d < plan.reduced_digits; ++d) add_digit(item, plan, d, d + 1 == plan.reduced_digits, n);
//@ else
#pragma unroll
  for (u32 d = 0; d < reduced_digits; ++d) add_digit(item, plan, d, d + 1 == reduced_digits, n);
//@ end
}

//@ if ranged
__device__ __forceinline__ Range range_of(const Plan& plan, i64 first) {
  const i64 rest = static_cast<i64>(plan.along) - first;
  const i64 end = rest < 0 ? 0 : rest;
  return {first < 0 ? static_cast<u32>(-first) : 0, end < vector ? static_cast<u32>(end) : vector};
}
//@ end

// ---- loads ----

template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Item& item) {
  const u8* from = plan.source[i].first + item.source[i];
  constexpr u32 bytes = sizeof(SourceBits<i>) * vector;
  if constexpr (Source<i>::is_run && vector > 1 && bytes >= 4) {
    load_words<least(bytes, 16)>(input.bits.word, from);
  } else {
    SourceBits<i> loaded[vector];
#pragma unroll
    for (u32 k = 0; k < vector; ++k) {
      loaded[k] = *reinterpret_cast<const SourceBits<i>*>(from + static_cast<i64>(k) * plan.source[i].step);
    }
    input.bits = {};
#pragma unroll
    for (u32 k = 0; k < vector; ++k) input.bits.set(k, loaded[k]);
  }
}
//@ if cut

// The elements of it that exist.
template <u32 i>
__device__ __forceinline__ void load_some_of(Input<i>& input, const Plan& plan, const Item& item, Range range) {
  const u8* from = plan.source[i].first + item.source[i];
  input.bits = {};
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    if (k < range.begin || k >= range.end) continue;
    input.bits.set(k, *reinterpret_cast<const SourceBits<i>*>(from + static_cast<i64>(k) * plan.source[i].step));
  }
}
//@ end

template <u32... i>
__device__ __forceinline__ void load_inputs(Inputs<i...>& inputs, const Plan& plan, const Item& item) {
  (load_input<i>(inputs, plan, item), ...);
}
//@ if cut
template <u32... i>
__device__ __forceinline__ void load_some_inputs(Inputs<i...>& inputs, const Plan& plan, const Item& item, Range range) {
  (load_some_of<i>(inputs, plan, item, range), ...);
}
//@ end

// ---- what comes together ----

// Adds the elements of an item that exist to what is kept.
template <u32... i>
__device__ __forceinline__ void add_item(State (&state)[states], const Inputs<i...>& inputs, const Plan& plan,
                                         const Item& item, Range range) {
  AllValues<held, i...> values;
  (packed<typename Source<i>::Element, held>(static_cast<const Input<i>&>(inputs).bits)
       .decode(static_cast<SourceValues<i, held>&>(values).at),
   ...);
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    if (k < range.begin || k >= range.end) continue;
    const Front value = evaluate(static_cast<SourceValues<i, held>&>(values).at[k]...);
    State& kept = state[k % states];
    kept = Reduced::both(kept, Reduced::of(value, item.place + static_cast<i64>(k) * plan.place_step));
  }
}

// Adds the items `first` and on, a turn apart, to what is kept. whole: all of them are before `end`, which spares the
// loads conditions that they would wait for.
template <bool whole>
__device__ __forceinline__ void add_round(State (&state)[states], const Plan& plan, const Item& own, Index first, Index end,
                                          Range range) {
  Item item[turns];
  Range ranges[turns];
  AllInputs inputs[turns];
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const Index n = first + turn * plan.team.phases;
    item[turn] = own;
    add_reduced(item[turn], plan, n);
    ranges[turn] = range;
//@ if !ended
//@ if staggered
    // The row's vectors begin at multiples of 16 bytes, the first before the row.
    const u32 past = static_cast<u32>(reinterpret_cast<u64>(plan.source[0].first) + item[turn].source[0]) % 16;
    item[turn].source[0] -= past;
    const i64 before = past / sizeof(SourceBits<0>);
    item[turn].place -= before * plan.place_step;
    ranges[turn] = range_of(plan, static_cast<i64>(item[turn].along) * vector - before);
//@ else
//@ if !columns
//@ if cut
    ranges[turn] = range_of(plan, static_cast<i64>(item[turn].along) * vector);
//@ end
//@ end
//@ end
//@ end
    if (!whole && n >= end) ranges[turn] = {0, 0};
    if (ranges[turn].whole()) load_inputs(inputs[turn], plan, item[turn]);
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    if (ranges[turn].whole()) {
      add_item(state, inputs[turn], plan, item[turn], {0, vector});
//@ if ranged
    } else if (ranges[turn].begin < ranges[turn].end) {
      load_some_inputs(inputs[turn], plan, item[turn], ranges[turn]);
      add_item(state, inputs[turn], plan, item[turn], ranges[turn]);
//@ end
    }
  }
}

//@ if ended
// The elements of a row that are in no whole vector of it.
struct Ends {
  u32 first;  // before the first whole vector
  u32 last;   // behind the last one
  __device__ __forceinline__ u32 count() const { return first + last; }
};

__device__ __forceinline__ Ends ends_of(const Plan& plan, const Item& row) {
//@ if staggered
  const u64 from = reinterpret_cast<u64>(plan.source[0].first) + row.source[0];
  const u32 first = static_cast<u32>(0 - from) % 16 / sizeof(SourceBits<0>);
//@ else
  const u32 first = 0;
//@ end
  return {first, static_cast<u32>((plan.along - first) % vector)};
}

// An element of a row as an item of its own.
__device__ __forceinline__ Item element_of(const Plan& plan, const Item& row, i64 element) {
  Item item = row;
#pragma unroll
  for (u32 s = 0; s < sources; ++s) item.source[s] += element * plan.source[s].step;
  item.place += element * plan.place_step;
  return item;
}

__device__ __forceinline__ Item end_of(const Plan& plan, const Item& row, const Ends& ends, u32 n) {
  return element_of(plan, row, n < ends.first ? n : static_cast<i64>(plan.along - ends.count() + n));
}
//@ end

// ---- results ----

__device__ __forceinline__ i64 destination_of(const Plan& plan, Index n) {
  i64 at = 0;
#pragma unroll 1
  for (u32 d = plan.reduced_digits; d < plan.digits; ++d) {
    const Index index = take_index(plan.digit[d].extent, plan.digit[d].count, n);
    at += static_cast<i64>(index) * plan.digit[d].destination;
  }
  return at;
}

//@ if split
__device__ __forceinline__ void reduce_tile(const Plan& plan, u8* scratch) {
//@ if columns
  u32 part = blockIdx.x;
  const u32 tile = take(plan.inner, part);
//@ else
  u32 tile = blockIdx.x;
  const u32 part = take(plan.inner, tile);
//@ end
//@ else
__device__ __forceinline__ void reduce_tile(const Plan& plan) {
  const u32 tile = blockIdx.x;
//@ end
  const Place place = place_of(plan.team);
  const Index kept = static_cast<Index>(tile) * plan.team.owners + place.own;
  const bool exists = place.own < plan.team.owners && place.phase < plan.team.phases && kept < plan.kept;
  State state[states];
#pragma unroll
  for (u32 k = 0; k < states; ++k) state[k] = Reduced::none();

  Item own{};
  own.place = plan.first_place;
  add_kept(own, plan, exists ? kept : 0);
  Range range{0, vector};
//@ if columns
//@ if cut
  range = range_of(plan, static_cast<i64>(own.along) * vector);
//@ end
//@ end
//@ if ended
  // Items are the whole vectors of a row. What stands around them the first part takes element by element: a thread's first
  // one is loaded before all items, and waited for behind them.
  const Ends ends = ends_of(plan, own);
//@ if split
  const u32 ends_here = exists && part == 0 ? ends.count() : 0;
//@ else
  const u32 ends_here = exists ? ends.count() : 0;
//@ end
  const Item row = own;
  Item end_item = end_of(plan, row, ends, place.phase);
  AllInputs end_input;
  if (place.phase < ends_here) load_some_inputs(end_input, plan, end_item, {0, 1});
  own = element_of(plan, row, ends.first);
  const Index end = exists ? static_cast<Index>((plan.along - ends.count()) / vector) : 0;
//@ else
  const Index end = exists ? static_cast<Index>(plan.reduced) : 0;
//@ end
  const Index round = static_cast<Index>(turns) * plan.team.phases;
//@ if split
  // CTAs that share items take rounds in turns, so that what all of them load at a time lies together.
  Index first = part * round + place.phase;
  const Index next = plan.team.parts * round;
//@ else
  Index first = place.phase;
  const Index next = round;
//@ end
#pragma unroll 1
  for (; first + (turns - 1) * plan.team.phases < end; first += next) add_round<true>(state, plan, own, first, end, range);
  if (first < end) add_round<false>(state, plan, own, first, end, range);
//@ if ended
#pragma unroll 1
  for (u32 n = place.phase; n < ends_here; n += plan.team.phases) {
    if (n != place.phase) {
      end_item = end_of(plan, row, ends, n);
      load_some_inputs(end_input, plan, end_item, {0, 1});
    }
    add_item(state, end_input, plan, end_item, {0, 1});
  }
//@ end
  extern __shared__ __align__(16) u8 meeting[];
//@ if columns
  State(&result)[results] = state;
//@ else
  State result[results] = {state[0]};
#pragma unroll
  for (u32 k = 1; k < states; ++k) result[0] = Reduced::both(result[0], state[k]);
//@ end
  const auto meet = [] { __syncthreads(); };
  put_together<Reduced>(result, plan.team, place, meeting, meet);
//@ if split
  if (!put_parts_together<Reduced>(result, plan.team, place, exists, tile, part, scratch, meeting, meet)) return;
//@ end
  if (!exists || place.phase != 0) return;
  u8* const to = plan.destination + destination_of(plan, kept);
#pragma unroll
  for (u32 k = 0; k < results; ++k) {
    if (k < range.end) store_result<Reduced>(to + static_cast<i64>(k) * plan.destination_step, result[k], plan.count);
  }
}

}  // namespace tmajit
