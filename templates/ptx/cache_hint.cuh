// L2 cache policies for bulk copies.  PTX ISA, "createpolicy".  PTX 7.4, sm_80.
//@ # A policy is a hint: it changes no result. Make it once, outside of loops.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

struct CachePolicy { u64 bits; };

//@ each priority of evict_first evict_normal evict_last evict_unchanged
// L2 evicts accessed lines early (evict_first), in its default order (evict_normal), late (evict_last), or by the priority
// that they have (evict_unchanged). `fraction`, in (0, 1], limits this to a part of the lines; the rest stay unchanged.
__device__ __forceinline__ CachePolicy $priority() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::$priority.b64 %0, 1.0;" : "=l"(policy.bits));
  return policy;
}
__device__ __forceinline__ CachePolicy $priority(float fraction) {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::$priority.b64 %0, %1;" : "=l"(policy.bits) : "f"(fraction));
  return policy;
}

// The same priority for `primary` bytes from the global address `begin` on. The remainder of `all` bytes is evicted first; the
// policy does not cover other addresses.
__device__ __forceinline__ CachePolicy $priority_in(const void* begin, u32 primary, u32 all) {
  CachePolicy policy;
  asm("createpolicy.range.global.L2::$priority.L2::evict_first.b64 %0, [%1], %2, %3;"
      : "=l"(policy.bits) : "l"(__cvta_generic_to_global(begin)), "r"(primary), "r"(all));
  return policy;
}

//@ end
}  // namespace tmajit::ptx
