// Addresses and vectors in shared memory.  PTX ISA, "State Spaces", "cvta", "ld" and "st".  PTX 2.0, sm_20.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// The .shared address of a `pointer` to shared memory of this CTA; also its .shared::cluster address.
__device__ __forceinline__ u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

// 16 bytes at a multiple of 16.
__device__ __forceinline__ void load_shared16(u32 (&word)[4], u32 from) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "r"(from) : "memory");
}

// 8 bytes at a multiple of 8.
__device__ __forceinline__ void load_shared8(u32 (&word)[2], u32 from) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "r"(from) : "memory");
}

// 16 bytes at a multiple of 16.
__device__ __forceinline__ void store_shared16(u32 to, const u32 (&word)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
               ::"r"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]) : "memory");
}

// 8 bytes at a multiple of 8.
__device__ __forceinline__ void store_shared8(u32 to, const u32 (&word)[2]) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(word[0]), "r"(word[1]) : "memory");
}

}  // namespace tmajit::ptx
