// gathered_sum: adds up elements of a tensor that an index tensor selects, each times a weight.
//
//   index tensor, weights --> registers --offsets of selected vectors--> loads of up to 8 vectors --in order--> sums --> store
//
// A thread has one vector of the destination. It loads the indices and weights of up to 8 terms, then their vectors, so that many
// loads are in flight, and adds them to its sums in the order of the index. Bags of different lengths have offsets in the index
// tensor, which are two more loads before the indices.
//@ # Facts of the kernel: vector, terms_at_once, Number, Sum, Weights, Bags, Destination, Source<i> and those of indices.cuh; of
//@ # RaggedBags also OffsetElement.
#include "tmajit/gathered_vectors.cuh"
#include "tmajit/indices.cuh"

namespace tmajit {

using Plan = params::GatheredSumPlan<digits, indices>;

// Elements are added as they are.
struct Unweighted {
  struct Factor {};
  static __device__ __forceinline__ Factor load(const Plan&, const Place&, u64) { return {}; }
  static __device__ __forceinline__ Sum add(Sum sum, Sum value, Factor) { return sum + value; }
};
// Each term has a weight.
struct Weighted {
  using Element = Source<1>::Element;
  using Factor = Sum;
  static __device__ __forceinline__ Factor load(const Plan& plan, const Place& place, u64 term) {
    Raw<sizeof(Element), 2> loaded{};
    const u8* const from = plan.index[1].first + place.index[1] + static_cast<i64>(term) * plan.weight_step;
    loaded.set(0, *reinterpret_cast<const typename Bits<sizeof(Element)>::Type*>(from));
    Value<Element> values[2];
    to_pack<Element, 2>(loaded).decode(values);
    return static_cast<Factor>(values[0]);
  }
  static __device__ __forceinline__ Sum add(Sum sum, Sum value, Factor factor) { return sum + value * factor; }
};

// The terms of a bag: `end` is not included.
struct Terms {
  u64 begin;
  u64 end;
};

// Each bag is a line of the index tensor.
struct EqualBags {
  static __device__ __forceinline__ Terms terms(const Plan& plan, const Place&) { return {0, plan.terms}; }
  static __device__ __forceinline__ bool has_terms(u64 first, u64 end) { return first < end; }
};
// The offsets of a bag and of the one after it divide a list of indices. The offsets follow all other index tensors.
struct RaggedBags {
  static __device__ __forceinline__ u64 clamped(i64 offset, u64 terms) {
    if (offset < 0) return 0;
    return static_cast<u64>(offset) < terms ? static_cast<u64>(offset) : terms;
  }
  static __device__ __forceinline__ Terms terms(const Plan& plan, const Place& place) {
    const u8* const from = plan.index[indices - 1].first + place.index[indices - 1];
    const auto begin = static_cast<i64>(*reinterpret_cast<const OffsetElement*>(from));
    const auto end = static_cast<i64>(*reinterpret_cast<const OffsetElement*>(from + plan.offset_step));
    return {clamped(begin, plan.terms), clamped(end, plan.terms)};
  }
  // Lanes of a warp have bags of different lengths. All of them meet at the barriers until the longest one is added.
  static __device__ __forceinline__ bool has_terms(u64 first, u64 end) { return __any_sync(~0U, first < end) != 0; }
};

// Adds the terms from `first` on to the sums. The compiler moves no load across the barriers. Without them it would save registers
// and wait for each index before it loads the next one. Additions are unconditional, so that it does not merge them with the loads.
__device__ __forceinline__ void add_terms(const Plan& plan, const Place& place, u64 first, u64 end, Sum (&sums)[pack_count]) {
  using Element = Source<0>::Element;
  const u64 last = plan.terms - 1;
  IndexElement given[terms_at_once];
  typename Weights::Factor factor[terms_at_once];
  Raw<sizeof(Element), pack_count> loaded[terms_at_once];
#pragma unroll
  for (u32 t = 0; t < terms_at_once; ++t) {
    const u64 term = first + t < last ? first + t : last;  // the last index in place of those beyond it
    given[t] = *reinterpret_cast<const IndexElement*>(plan.index[0].first + place.index[0] + static_cast<i64>(term) * plan.index_step);
    factor[t] = Weights::load(plan, place, term);
  }
  __syncwarp();
#pragma unroll
  for (u32 t = 0; t < terms_at_once; ++t) {
    bool exists = first + t < end;
    const i64 selected = Axes::offset(plan, 0, selected_index(plan.index[0], given[t], exists));
    loaded[t] = {};
    if (exists) loaded[t] = load_elements<Element>(plan.source + place.source + selected);
    if (!exists) factor[t] = {};  // it may be NaN
  }
  __syncwarp();
#pragma unroll
  for (u32 t = 0; t < terms_at_once; ++t) {
    Value<Element> values[pack_count];
    to_pack<Element, pack_count>(loaded[t]).decode(values);
#pragma unroll
    for (u32 i = 0; i < vector; ++i) sums[i] = Weights::add(sums[i], static_cast<Sum>(values[i]), factor[t]);
  }
}

__device__ __forceinline__ void sum_vector(const Plan& plan) {
  const Number number = static_cast<Number>(blockIdx.x) * blockDim.x + threadIdx.x;
  const Number last = static_cast<Number>(plan.vectors - 1);
  // A thread without a vector adds the terms of the last one, so that all lanes meet at the barriers.
  const Place place = vector_place(plan, number < last ? number : last);
  const Terms bag = Bags::terms(plan, place);
  Sum sums[pack_count] = {};
#pragma unroll 1
  for (u64 first = bag.begin; Bags::has_terms(first, bag.end); first += terms_at_once)
    add_terms(plan, place, first, bag.end, sums);
  Value<Destination::Element> results[pack_count];
#pragma unroll
  for (u32 i = 0; i < pack_count; ++i) results[i] = convert<Value<Destination::Element>>(sums[i]);
  Pack<Destination::Element, pack_count> pack;
  pack.encode(results);
  if (number > last) return;
  store_elements(plan.destination + place.destination, to_raw<Destination::Element, pack_count>(pack));
}

}  // namespace tmajit
