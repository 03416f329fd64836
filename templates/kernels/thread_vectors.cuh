// The vectors of a thread that reduces or scans: places, ranges and the bits of their sources.
//@ # Facts of the kernel: vector, Source<i>, AllSources.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/source_inputs.cuh"

namespace tmajit {

// Elements of a Pack, which has at least two; a vector of one element uses the first.
constexpr u32 pack_count = vector < 2 ? 2 : vector;

// Returns n modulo the dimension's size, given twice as `extent` and `count`; n becomes the quotient.
template <class N>
__device__ __forceinline__ N take_index(u64 extent, const params::Divider& count, N& n) {
  if constexpr (sizeof(N) == 4) return take(count, n);
  const N whole = n;
  n = whole / extent;
  return whole - n * extent;
}

// The elements of a vector that exist.
struct Range {
  u32 begin;
  u32 end;
  __device__ __forceinline__ bool whole() const { return begin == 0 && end == vector; }
//@ used present
  // Bit n tells whether element n is in the range. A vector of one element begins at 0.
  __device__ __forceinline__ u32 present() const { return vector == 1 ? end : (1u << end) - (1u << begin); }
//@ end
};

// A vector of each source, as it was loaded.
template <u32 i>
using Input = SourceInput<i, pack_count>;
template <u32... i>
using Inputs = SourceInputs<pack_count, i...>;
template <u32... i>
__device__ Inputs<i...> inputs_of(Indices<i...>);
using AllInputs = decltype(inputs_of(AllSources{}));

}  // namespace tmajit
