// Fences between the generic proxy (ordinary loads and stores) and the async proxy (the copy engine).
// PTX ISA, "membar / fence" and "Async proxy".
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// fence.mbarrier_init: makes this thread's mbarrier.init visible to the async proxy and to the cluster.
// PTX 8.0, sm_90.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// fence.proxy.async.shared::cta: orders this thread's generic accesses to shared memory before later async
// ones. Each thread that wrote (or read what is to be overwritten) fences, then the threads synchronise, then
// one of them issues the copy.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// fence.proxy.async.global: the same for global memory.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace tmajit::ptx
