// Copies of a few bytes from global to shared memory that a thread does not wait for. PTX ISA, "cp.async".
// PTX 7.0, sm_80.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// The first `bytes` of the four at `from`, zeros for the rest; both addresses are multiples of four.
__device__ __forceinline__ void copy_word_async(u32 to, const void* from, u32 bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

// Waits for all that this thread started.
__device__ __forceinline__ void wait_async_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace tmajit::ptx
