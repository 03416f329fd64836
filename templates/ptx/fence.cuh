// Fences between ordinary accesses and the copy engine's.  PTX ISA, "membar / fence" and "Async proxy".
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Makes this thread's mbarrier.init visible to the async proxy and to the cluster.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Orders this thread's ordinary accesses to shared memory before later accesses by the copy engine and by wgmma.  PTX 8.0, sm_90.
//@ # Each thread that wrote, or that read bytes about to be overwritten, fences; then the threads synchronise; then one
//@ # of them issues the copy.
__device__ __forceinline__ void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// As fence_proxy_async_shared(), for global memory.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

// As fence_proxy_async_shared(), for the shared memory of all CTAs of the cluster.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_proxy_async_cluster() {
  asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
}

// As fence_proxy_async_shared(), for all memory.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

//@ each scope of cta cluster gpu sys
// fence.acq_rel.$scope: this thread's ordinary accesses before the fence are ordered before those after it. PTX 7.8 for the
// cluster, sm_90.
__device__ __forceinline__ void fence_$scope() {
  asm volatile("fence.acq_rel.$scope;" ::: "memory");
}

//@ end
}  // namespace tmajit::ptx
