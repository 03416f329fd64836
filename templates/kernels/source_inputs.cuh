// Elements of the sources, as a thread loaded them.
//@ # Facts of the kernel: Source<i>, AllSources.
#pragma once
#include "tmajit/values.cuh"

namespace tmajit {

constexpr u32 sources = AllSources::count;

template <u32 i>
using SourceBits = typename Bits<sizeof(typename Source<i>::Element)>::Type;

// `count` neighbouring elements of source i.
template <u32 i, u32 count>
struct SourceInput {
  Raw<sizeof(typename Source<i>::Element), count> bits;
};
//@ if numbers

// Sets the elements of a source that is a number, which the launch passes in place of its address. False for a source in memory.
template <u32 i, u32 count>
__device__ __forceinline__ bool take_number(SourceInput<i, count>& input, const u8* in_place_of_address) {
  if (!Source<i>::is_number) return false;
#pragma unroll
  for (u32 k = 0; k < count; ++k) input.bits.set(k, static_cast<SourceBits<i>>(reinterpret_cast<u64>(in_place_of_address)));
  return true;
}
//@ end
template <u32 count, u32... i>
struct SourceInputs : SourceInput<i, count>... {};

}  // namespace tmajit
