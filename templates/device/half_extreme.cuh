// min and max of f16 and bf16 in global memory, one element at a time: PTX has no atomic instruction for them.
#pragma once
#include "tmajit/extreme.cuh"
#include "tmajit/global_reduce.cuh"

namespace tmajit {

// Atomically replaces the element at `to` by combine(element, value). Element and value are passed as bits.
template <class Combine>
__device__ __forceinline__ void global_replace(u16* to, u16 value, const Combine& combine) {
  u16 expected = *static_cast<volatile u16*>(to);
  for (;;) {
    const u16 found = ptx::compare_and_swap(to, expected, combine(expected, value));
    if (found == expected) return;
    expected = found;
  }
}
// The element at `to` becomes the extreme of itself and `value`, both as bits; a number wins over NaN.
__device__ __forceinline__ void global_min_f16(u16* to, u16 value) { global_replace(to, value, ptx::min_f16); }
__device__ __forceinline__ void global_max_f16(u16* to, u16 value) { global_replace(to, value, ptx::max_f16); }
__device__ __forceinline__ void global_min_bf16(u16* to, u16 value) { global_replace(to, value, ptx::min_bf16); }
__device__ __forceinline__ void global_max_bf16(u16* to, u16 value) { global_replace(to, value, ptx::max_bf16); }

}  // namespace tmajit
