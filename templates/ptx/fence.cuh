// Fences between ordinary accesses and the copy engine's.  PTX ISA, "membar / fence" and "Async proxy".
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ used fence_mbarrier_init
// Makes this thread's mbarrier.init visible to the async proxy and to the cluster.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
//@ end

//@ used fence_proxy_async_shared
// Orders this thread's ordinary accesses to shared memory before later async ones.  PTX 8.0, sm_90.
//@ # Each thread that wrote, or that read bytes about to be overwritten, fences; then the threads synchronise; then one
//@ # of them issues the copy.
__device__ __forceinline__ void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
//@ end

//@ used fence_proxy_async_global
// The same for global memory.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}
//@ end

//@ used fence_proxy_async_cluster
// The same for the shared memory of all CTAs of the cluster.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_proxy_async_cluster() {
  asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
}
//@ end

//@ used fence_proxy_async
// The same for all memory.  PTX 8.0, sm_90.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async;" ::: "memory");
}
//@ end

//@ each scope of cta cluster gpu sys
//@ used fence_$scope
// fence.acq_rel.$scope: this thread's ordinary accesses before the fence are seen before those after it. PTX 7.8 for the
// cluster, sm_90.
__device__ __forceinline__ void fence_$scope() {
  asm volatile("fence.acq_rel.$scope;" ::: "memory");
}
//@ end

//@ end
}  // namespace tmajit::ptx
