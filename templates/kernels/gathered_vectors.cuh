// Vectors of elements that are computed with: loads from the selected elements of a source, and stores to the destination.
//@ # Facts of the kernel: vector, Destination, Source<i>, AllSources.
#pragma once
#include "tmajit/source_inputs.cuh"

namespace tmajit {

// Elements of a Pack, which has at least two; a vector of one element uses the first.
constexpr u32 pack_count = vector < 2 ? 2 : vector;

template <class Element>
__device__ __forceinline__ Raw<sizeof(Element), pack_count> load_elements(const u8* from) {
  constexpr u32 bytes = vector * sizeof(Element);
  Raw<sizeof(Element), pack_count> loaded{};
  if constexpr (vector == 1) {
    loaded.set(0, *reinterpret_cast<const typename Bits<sizeof(Element)>::Type*>(from));
  } else if constexpr (bytes < 4) {
    loaded.word[0] = *reinterpret_cast<const u16*>(from);
  } else {
    load_words<bytes>(loaded.word, from);
  }
  return loaded;
}

__device__ __forceinline__ void store_elements(u8* to, const Raw<sizeof(Destination::Element), pack_count>& value) {
  using Element = Destination::Element;
  if constexpr (vector == 1) {
    *reinterpret_cast<typename Bits<sizeof(Element)>::Type*>(to) = value.get(0);
  } else {
    store_raw<least(16, pack_count * sizeof(Element))>(to, value);
  }
}

}  // namespace tmajit
