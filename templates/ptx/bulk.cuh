// One-dimensional bulk copies.  PTX ISA, "cp.async.bulk" and "cp.async.bulk.prefetch".  PTX 8.0, sm_90.
//@ # Between global and shared memory, and from one CTA's shared memory to another's. Both addresses and the number of
//@ # bytes are multiples of 16.
#pragma once
#include "tmajit/cache_hint.cuh"
#include "tmajit/cta_mask.cuh"
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ each ctas from 0 to multicast, hint from 0 to cache_hints
// global → shared; `barrier` receives complete_tx of `bytes`.
//@ # With `ctas`: into those CTAs of the cluster, at the same offsets of destination and barrier in each.
__device__ __forceinline__ void bulk_load(u32 destination, const void* source, u32 bytes, u32 barrier$[x < ctas: , CtaMask ctas]$[x < hint: , CachePolicy policy]) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes$[x < ctas: .multicast::cluster]$[x < hint: .L2::cache_hint] [%0], [%1], %2, [%3]$[x < ctas: , %4]$[x < hint: , %$(ctas + 4)];"
      ::"r"(destination), "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(barrier)$[x < ctas: , "h"(ctas.bits)]$[x < hint: , "l"(policy.bits)] : "memory");
}

// shared → global; completes in a bulk group.
__device__ __forceinline__ void bulk_store(void* destination, u32 source, u32 bytes$[x < hint: , CachePolicy policy]) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group$[x < hint: .L2::cache_hint] [%0], [%1], %2$[x < hint: , %3];"
               ::"l"(__cvta_generic_to_global(destination)), "r"(source), "r"(bytes)$[x < hint: , "l"(policy.bits)] : "memory");
}

// shared → shared memory of a CTA of the cluster, by .shared::cluster addresses (cluster.cuh); `barrier`, in that same
// CTA, receives complete_tx of `bytes`.
__device__ __forceinline__ void bulk_send(u32 destination, u32 source, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(destination), "r"(source), "r"(bytes), "r"(barrier) : "memory");
}

// global → L2.
__device__ __forceinline__ void bulk_prefetch(const void* source, u32 bytes$[x < hint: , CachePolicy policy]) {
  asm volatile("cp.async.bulk.prefetch.L2.global$[x < hint: .L2::cache_hint] [%0], %1$[x < hint: , %2];"
               ::"l"(__cvta_generic_to_global(source)), "r"(bytes)$[x < hint: , "l"(policy.bits)]);
}
//@ end

}  // namespace tmajit::ptx
