// Named barriers for a part of the CTA.  PTX ISA, "barrier.sync".  PTX 6.0, sm_70.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Waits until `threads` threads (whole warps) have arrived at barrier `id` (1 … 15; 0 is __syncthreads()).
template <u32 id, u32 threads> __device__ __forceinline__ void sync_threads() {
  static_assert(id < 16, "a CTA has the named barriers 0 to 15");
  static_assert(threads % 32 == 0 && threads > 0 && threads <= 1024, "whole warps meet at a named barrier: a multiple of 32 threads");
  asm volatile("barrier.sync.aligned %0, %1;" ::"n"(id), "n"(threads) : "memory");
}

// As sync_threads(), for a barrier number known only at run time.
__device__ __forceinline__ void sync_threads_at(u32 id, u32 threads) {
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Counts this warp among the `threads` that arrive at barrier `id`, without waiting. Threads that wait call sync_threads_at().
__device__ __forceinline__ void arrive_at_threads(u32 id, u32 threads) {
  asm volatile("barrier.arrive.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace tmajit::ptx
