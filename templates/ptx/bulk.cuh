// One-dimensional bulk copies.  PTX ISA, "cp.async.bulk" and "cp.async.bulk.prefetch".  PTX 8.0, sm_90.
//@ # Between global and shared memory. Both addresses and the number of bytes are multiples of 16.
#pragma once
#include "tmajit/types.cuh"
//@ if cache_hints
#include "tmajit/cache_hint.cuh"
//@ end

namespace tmajit::ptx {

//@ used bulk_load
// global → shared; `barrier` receives complete_tx of `bytes`.
__device__ __forceinline__ void bulk_load(u32 destination, const void* source, u32 bytes, u32 barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          destination),
      "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(barrier)
      : "memory");
}
//@ if cache_hints

__device__ __forceinline__ void bulk_load(u32 destination, const void* source, u32 bytes, u32 barrier,
                                          CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(destination),
      "l"(__cvta_generic_to_global(source)), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
}
//@ end
//@ end

//@ used bulk_store
// shared → global; completes in a bulk group.
__device__ __forceinline__ void bulk_store(void* destination, u32 source, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(destination)),
               "r"(source), "r"(bytes)
               : "memory");
}
//@ if cache_hints

__device__ __forceinline__ void bulk_store(void* destination, u32 source, u32 bytes, CachePolicy policy) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(
                   __cvta_generic_to_global(destination)),
               "r"(source), "r"(bytes), "l"(policy)
               : "memory");
}
//@ end
//@ end

//@ used bulk_prefetch
// global → L2.
__device__ __forceinline__ void bulk_prefetch(const void* source, u32 bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(source)),
               "r"(bytes));
}
//@ end

}  // namespace tmajit::ptx
