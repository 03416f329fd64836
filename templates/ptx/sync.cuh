// Named barriers for a part of the CTA.  PTX ISA, "barrier.sync".  PTX 6.0, sm_70.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Waits until `threads` threads (whole warps) have come to barrier `id` (1 … 15; 0 is __syncthreads()).
template <u32 id, u32 threads> __device__ __forceinline__ void sync_threads() {
  asm volatile("barrier.sync.aligned %0, %1;" ::"n"(id), "n"(threads) : "memory");
}

}  // namespace tmajit::ptx
