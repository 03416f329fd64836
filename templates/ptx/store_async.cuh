// Stores into the shared memory of a CTA of the cluster, counted by a barrier there.  PTX ISA, "st.async".  PTX 8.1, sm_90.
//@ # `to` is a .shared::cluster address (cluster.cuh), aligned to the bytes stored; `barrier`, in that same CTA, receives
//@ # complete_tx of them.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// 4 or 8 bytes.
__device__ __forceinline__ void store_async(u32 to, u32 word, u32 barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
               ::"r"(to), "r"(word), "r"(barrier) : "memory");
}
__device__ __forceinline__ void store_async(u32 to, u64 word, u32 barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
               ::"r"(to), "l"(word), "r"(barrier) : "memory");
}
// 8 or 16 bytes: two or four words of 4.
__device__ __forceinline__ void store_async(u32 to, const u32 (&word)[2], u32 barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];"
               ::"r"(to), "r"(word[0]), "r"(word[1]), "r"(barrier) : "memory");
}
__device__ __forceinline__ void store_async(u32 to, const u32 (&word)[4], u32 barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];"
               ::"r"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]), "r"(barrier) : "memory");
}
// 16 bytes: two words of 8.
__device__ __forceinline__ void store_async(u32 to, const u64 (&word)[2], u32 barrier) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];"
               ::"r"(to), "l"(word[0]), "l"(word[1]), "r"(barrier) : "memory");
}

}  // namespace tmajit::ptx
