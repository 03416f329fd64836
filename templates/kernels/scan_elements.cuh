// The elements that a scan loads, combines and stores.
//@ # The kernel's facts: Index, vector, Scanner, Edges, Destination, Source<i>, AllSources, evaluate().
#pragma once
#include "tmajit/scan_plan.cuh"
#include "tmajit/scanners.cuh"
#include "tmajit/thread_vectors.cuh"

namespace tmajit {

using Plan = params::ScanPlan<sources>;

// Evaluates the expression, for the type of its result.
template <u32... i>
__device__ __forceinline__ auto evaluated(Indices<i...>) {
  return evaluate(Value<typename Source<i>::Element>{}...);
}
using Scanned = Scanner<typename ArithmeticType<decltype(evaluated(AllSources{}))>::type>;
using State = Scanned::State;

// ---- places ----

// Offsets from the views' first elements, in bytes.
struct Place {
  i64 destination;
  i64 source[sources];
};

// The place of row n, or of vector n of columns. `across` becomes the index of the first digit.
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

// Vectors may be cut by the end of a row, or by the first or last column.
struct CutVectors {
  static constexpr bool cuts = true;
  // The existing elements of a vector whose first element has index `first` of `count`.
  static __device__ __forceinline__ Range range(i64 first, i64 count) {
    const i64 rest = count - first;
    return {first < 0 ? least(static_cast<u32>(-first), vector) : 0,
            rest >= vector ? vector : rest < 0 ? 0 : static_cast<u32>(rest)};
  }
};
// Vectors exist as a whole or not at all.
struct WholeVectors {
  static constexpr bool cuts = false;
  static __device__ __forceinline__ Range range(i64 first, i64 count) { return {0, first < count ? vector : 0}; }
};

// ---- loads and stores ----

// Whether one load or store moves a whole vector of elements of `element_bytes`.
__device__ constexpr bool is_vector(i32 run, u32 element_bytes) {
  return run != 0 && vector > 1 && vector * element_bytes >= 4;
}
// The position of element k of a vector in memory; vectors of flipped operands are reversed.
__device__ constexpr u32 in_run(i32 run, u32 element_bytes, u32 k) {
  return is_vector(run, element_bytes) && run < 0 ? vector - 1 - k : k;
}

template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Place& place, Range range) {
//@ if numbers
  input.bits = {};
  if (take_number(input, plan.source[i].first)) return;
//@ end
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
    if constexpr (!Edges::cuts && is_vector(Source<i>::run, bytes)) continue;
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

// The values of a vector's elements before they are combined.
struct Scannable {
  State at[vector];
};
template <u32... i>
__device__ __forceinline__ Scannable values_of(const Inputs<i...>& inputs) {
  AllValues<pack_count, i...> values;
  (to_pack<typename Source<i>::Element, pack_count>(static_cast<const Input<i>&>(inputs).bits)
       .decode(static_cast<SourceValues<i, pack_count>&>(values).at),
   ...);
  Scannable scannable;
#pragma unroll
  for (u32 k = 0; k < vector; ++k) {
    scannable.at[k] = Scanned::of(
        evaluate(static_cast<SourceValues<i, pack_count>&>(values).at[in_run(Source<i>::run, sizeof(SourceBits<i>), k)]...), 0);
  }
  return scannable;
}

__device__ __forceinline__ void store_results(const Plan& plan, i64 offset, const State (&result)[vector], Range range) {
  using Element = Destination::Element;
  constexpr u32 bytes = sizeof(Element);
  Value<Element> values[pack_count] = {};
#pragma unroll
  for (u32 k = 0; k < vector; ++k) values[in_run(Destination::run, bytes, k)] = result_of(Scanned::result(result[k], 0));
  Pack<Element, pack_count> pack;
  pack.encode(values);
  const Raw<bytes, pack_count> bits = to_raw<Element, pack_count>(pack);
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
    } else if constexpr (Edges::cuts) {
      store_elements();
    }
  } else {
    store_elements();
  }
}

}  // namespace tmajit
