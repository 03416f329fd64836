// reduce: combines the elements of some dimensions, computing their values on the way.
//
//   source --turns vectors of a thread at once--> registers --evaluate()--> states of a thread
//     --shuffles or shared memory, in a fixed order--> thread 0 of each item --final_result()--> destination
//
//@ if columns
// Neighbouring threads take items that are neighbours in the destination; threads further apart share the reduced items of each.
//@ else
// Neighbouring threads share the items of a result, which are neighbours in memory where possible.
//@ end
//@ # Facts of the kernel: Index, vector, turns, reduced_digits (0: the launch counts them), columns; Rows if `ranged`,
//@ # staggered if `ended`; Reducer, Destination, Source<i>, AllSources, evaluate(), final_result(); AllNumbers, the
//@ # sources that are numbers, if `epilogue_numbers`.
#include "tmajit/division.cuh"
#include "tmajit/meeting.cuh"
#include "tmajit/reduced_result.cuh"
#include "tmajit/reducers.cuh"
#include "tmajit/reduction_plan.cuh"
#include "tmajit/thread_vectors.cuh"

namespace tmajit {

using Plan = params::ReductionPlan<sources>;

// Evaluates the expression, for the type of its result.
template <u32... i>
__device__ __forceinline__ auto evaluated(Indices<i...>) {
  return evaluate(Value<typename Source<i>::Element>{}...);
}
using Evaluated = decltype(evaluated(AllSources{}));
using Reduced = Reducer<Evaluated>;
using State = Reduced::State;

constexpr u32 results = columns ? vector : 1;               // of a thread
constexpr u32 states = columns ? vector : least(vector, 4);  // independent accumulators of a thread

// ---- items ----

// The position of an item, which is a vector of each source: offsets from the views' first elements.
struct Item {
  i64 source[sources];  // bytes
  i64 place;
  Index along;  // number of vectors before it in its row
};

// Adds the offset of digit d of a number to an item. The last digit is the remaining quotient.
__device__ __forceinline__ void add_digit(Item& item, const Plan& plan, u32 d, bool is_last, Index& n) {
  const Index index = is_last ? n : take_index(plan.digit[d].extent, plan.digit[d].count, n);
  if (d == 0 || d == plan.reduced_digits) item.along = index;
#pragma unroll
  for (u32 s = 0; s < sources; ++s) item.source[s] += static_cast<i64>(index) * plan.digit[d].source[s];
  item.place += static_cast<i64>(index) * plan.digit[d].place;
}

// Adds the offsets of all digits of a result item's number.
__device__ __forceinline__ void add_result_item(Item& item, const Plan& plan, Index n) {
#pragma unroll 1
  for (u32 d = plan.reduced_digits; d < plan.digits; ++d) add_digit(item, plan, d, d + 1 == plan.digits, n);
}

// Adds the offsets of all digits of a number of the reduced items.
__device__ __forceinline__ void add_reduced(Item& item, const Plan& plan, Index n) {
  const u32 digits = reduced_digits > 0 ? reduced_digits : plan.reduced_digits;
#pragma unroll (reduced_digits > 0 ? reduced_digits : 1)
  for (u32 d = 0; d < digits; ++d) add_digit(item, plan, d, d + 1 == digits, n);
}

// ---- where vectors begin ----

// The elements of a vector that exist, if its first one is element `first` of its row.
__device__ __forceinline__ Range range_of(const Plan& plan, i64 first) {
  const i64 rest = static_cast<i64>(plan.along) - first;
  const i64 end = rest < 0 ? 0 : rest;
  return {first < 0 ? static_cast<u32>(-first) : 0, end < vector ? static_cast<u32>(end) : vector};
}

// A row may end within its last vector.
struct CutRows {
  static __device__ __forceinline__ Range place(const Plan& plan, Item& item) {
    return range_of(plan, static_cast<i64>(item.along) * vector);
  }
};
// A row's vectors begin at multiples of 16 bytes, the first before the row.
struct StaggeredRows {
  static __device__ __forceinline__ Range place(const Plan& plan, Item& item) {
    const u32 past = static_cast<u32>(reinterpret_cast<u64>(plan.source[0].first) + item.source[0]) % 16;
    item.source[0] -= past;
    const i64 before = past / sizeof(SourceBits<0>);
    item.place -= before * plan.place_step;
    return range_of(plan, static_cast<i64>(item.along) * vector - before);
  }
};

// ---- loads ----

template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Item& item) {
//@ if numbers
  input.bits = {};
  if (take_number(input, plan.source[i].first)) return;
//@ end
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

// Loads the existing elements of an item.
template <u32 i>
__device__ __forceinline__ void load_some_of(Input<i>& input, const Plan& plan, const Item& item, Range range) {
  const u8* from = plan.source[i].first + item.source[i];
  input.bits = {};
//@ if numbers
  if (take_number(input, plan.source[i].first)) return;
//@ end
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    if (k < range.begin || k >= range.end) continue;
    input.bits.set(k, *reinterpret_cast<const SourceBits<i>*>(from + static_cast<i64>(k) * plan.source[i].step));
  }
}

template <u32... i>
__device__ __forceinline__ void load_inputs(Inputs<i...>& inputs, const Plan& plan, const Item& item) {
  (load_input<i>(inputs, plan, item), ...);
}

template <u32... i>
__device__ __forceinline__ void load_some_inputs(Inputs<i...>& inputs, const Plan& plan, const Item& item, Range range) {
  (load_some_of<i>(inputs, plan, item, range), ...);
}

// ---- accumulation ----

// Accumulates the existing elements of an item.
template <u32... i>
__device__ __forceinline__ void add_item(State (&state)[states], const Inputs<i...>& inputs, const Plan& plan,
                                         const Item& item, Range range) {
  AllValues<pack_count, i...> values;
  (to_pack<typename Source<i>::Element, pack_count>(static_cast<const Input<i>&>(inputs).bits)
       .decode(static_cast<SourceValues<i, pack_count>&>(values).at),
   ...);
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    if (k < range.begin || k >= range.end) continue;
    const Evaluated value = evaluate(static_cast<SourceValues<i, pack_count>&>(values).at[k]...);
    State& accumulator = state[k % states];
    accumulator = Reduced::combine(accumulator, Reduced::of(value, item.place + static_cast<i64>(k) * plan.place_step));
  }
}

// Accumulates `turns` items: `first` and those that follow in steps of `threads_per_item`. With `whole` all of them are before
// `end`, so the loads need no predicates.
template <bool whole>
__device__ __forceinline__ void add_round(State (&state)[states], const Plan& plan, const Item& own, Index first, Index end,
                                          Range range) {
  Item item[turns];
  Range ranges[turns];
  AllInputs inputs[turns];
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const Index n = first + turn * plan.team.threads_per_item;
    item[turn] = own;
    add_reduced(item[turn], plan, n);
    ranges[turn] = range;
//@ if ranged
    if constexpr (!columns) ranges[turn] = Rows::place(plan, item[turn]);
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

// ---- the ends of rows ----

// Items are the whole vectors of a row. The elements outside them are items of their own, and belong to the first CTA. A thread
// issues the load of its first such element before its vectors, and uses it after them.
struct Ends {
  Item row;
  u32 first;  // elements before the first whole vector
  u32 all;    // elements before the first and after the last whole vector
  u32 here;   // those of them that this CTA accumulates
  Index count;  // whole vectors
  Item item;
  AllInputs input;

  __device__ __forceinline__ Ends(const Plan& plan, Item& own, Place place, bool exists, bool is_first) : row(own), first(0) {
    if constexpr (staggered) {
      const u64 from = reinterpret_cast<u64>(plan.source[0].first) + row.source[0];
      first = static_cast<u32>(0 - from) % 16 / sizeof(SourceBits<0>);
    }
    all = first + static_cast<u32>((plan.along - first) % vector);
    here = exists && is_first ? all : 0;
    item = end(plan, place.thread);
    if (place.thread < here) load_some_inputs(input, plan, item, {0, 1});
    own = element(plan, first);
    count = exists ? static_cast<Index>((plan.along - all) / vector) : 0;
  }

  // An element of the row as an item.
  __device__ __forceinline__ Item element(const Plan& plan, i64 n) const {
    Item one = row;
#pragma unroll
    for (u32 s = 0; s < sources; ++s) one.source[s] += n * plan.source[s].step;
    one.place += n * plan.place_step;
    return one;
  }
  // The n-th element outside the whole vectors.
  __device__ __forceinline__ Item end(const Plan& plan, u32 n) const {
    return element(plan, n < first ? n : static_cast<i64>(plan.along - all + n));
  }

  __device__ __forceinline__ void add_to(State (&state)[states], const Plan& plan, Place place) {
#pragma unroll 1
    for (u32 n = place.thread; n < here; n += plan.team.threads_per_item) {
      if (n != place.thread) {
        item = end(plan, n);
        load_some_inputs(input, plan, item, {0, 1});
      }
      add_item(state, input, plan, item, {0, 1});
    }
  }
};

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

//@ if epilogue_numbers
template <u32... i>
__device__ __forceinline__ void store_with_numbers(u8* to, const State& state, const Plan& plan, Indices<i...>) {
  store_result<Reduced>(to, state, plan.count, value_of_number<typename Source<i>::Element>(plan.source[i].first)...);
}

//@ end
//@ if split
// Several CTAs share a tile. Each writes its part to scratch memory; the last CTA to finish combines all parts in the order of
// their numbers.
__device__ __forceinline__ void reduce_tile(const Plan& plan, u8* scratch) {
  u32 outer = blockIdx.x;
  const u32 inner = take(plan.inner_ctas, outer);
  const u32 tile = columns ? inner : outer;
  const u32 part = columns ? outer : inner;
  const u32 parts = plan.team.parts;
//@ else
__device__ __forceinline__ void reduce_tile(const Plan& plan) {
  const u32 tile = blockIdx.x;
  constexpr u32 part = 0;
  constexpr u32 parts = 1;
//@ end
  const Place place = place_of(plan.team);
  const Index result_item = static_cast<Index>(tile) * plan.team.tile_items + place.item;
  const bool exists =
      place.item < plan.team.tile_items && place.thread < plan.team.threads_per_item && result_item < plan.result_items;
  State state[states];
#pragma unroll
  for (u32 k = 0; k < states; ++k) state[k] = Reduced::identity();

  Item own{};
  own.place = plan.first_place;
  add_result_item(own, plan, exists ? result_item : 0);
  Range range{0, vector};
//@ if ranged
  if constexpr (columns) range = range_of(plan, static_cast<i64>(own.along) * vector);
//@ end
//@ if ended
  Ends ends(plan, own, place, exists, part == 0);
  const Index end = ends.count;
//@ else
  const Index end = exists ? static_cast<Index>(plan.reduced) : 0;
//@ end
  // CTAs that share items alternate rounds, so that concurrent loads are neighbours in memory.
  const Index round = static_cast<Index>(turns) * plan.team.threads_per_item;
  const Index next = parts * round;
  Index first = part * round + place.thread;
#pragma unroll 1
  for (; first + (turns - 1) * plan.team.threads_per_item < end; first += next) {
    add_round<true>(state, plan, own, first, end, range);
  }
  if (first < end) add_round<false>(state, plan, own, first, end, range);
//@ if ended
  ends.add_to(state, plan, place);
//@ end
  extern __shared__ __align__(16) u8 meeting[];
  State result[results];
#pragma unroll
  for (u32 k = 0; k < results; ++k) result[k] = state[k];
#pragma unroll
  for (u32 k = results; k < states; ++k) result[0] = Reduced::combine(result[0], state[k]);
  const auto meet = [] { __syncthreads(); };
  combine_threads<Reduced>(result, plan.team, place, meeting, meet);
//@ if split
  if (!combine_parts<Reduced>(result, plan.team, place, exists, tile, part, scratch, meeting, meet, [] {})) return;
//@ end
  if (!exists || place.thread != 0) return;
  u8* const to = plan.destination + destination_of(plan, result_item);
#pragma unroll
  for (u32 k = 0; k < results; ++k) {
//@ if epilogue_numbers
    if (k < range.end) store_with_numbers(to + static_cast<i64>(k) * plan.destination_step, result[k], plan, AllNumbers{});
//@ else
    if (k < range.end) store_result<Reduced>(to + static_cast<i64>(k) * plan.destination_step, result[k], plan.count);
//@ end
  }
}

}  // namespace tmajit
