// L2 cache policies for bulk copies.  PTX ISA, "createpolicy".  PTX 7.4, sm_80.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ used CachePolicy
using CachePolicy = u64;
//@ end

//@ used evict_first
// For data that is used once: the first to be evicted.
__device__ __forceinline__ CachePolicy evict_first() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
//@ end

//@ used evict_last
// For data that will be used again: the last to be evicted.
__device__ __forceinline__ CachePolicy evict_last() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
//@ end

}  // namespace tmajit::ptx
