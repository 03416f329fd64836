// The CTAs of a cluster: their ranks, their shared memory, and a barrier for all their threads.  PTX 7.8, sm_90.
//@ # PTX ISA, "Special Registers", "mapa", "getctarank" and "barrier.cluster".
//@ # A .shared::cluster address names a byte of the shared memory of one CTA of the cluster. This CTA's own .shared::cta
//@ # addresses are .shared::cluster addresses as well. No CTA may exit while another may still access its shared memory.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ each register of clusterid nclusterid cluster_ctaid cluster_nctaid
//@ # Not volatile: it never changes.
// %$register.x, .y and .z: clusterid and nclusterid count clusters of the grid, cluster_ctaid and cluster_nctaid CTAs
// of the cluster.
__device__ __forceinline__ uint3 $register() {
  uint3 at;
  asm("mov.u32 %0, %%$register.x;\n\tmov.u32 %1, %%$register.y;\n\tmov.u32 %2, %%$register.z;"
      : "=r"(at.x), "=r"(at.y), "=r"(at.z));
  return at;
}

//@ end
//@ each register of cluster_ctarank cluster_nctarank
// %$register: this CTA's rank in the cluster (cluster_ctarank), or the number of its CTAs (cluster_nctarank).
__device__ __forceinline__ u32 $register() {
  u32 value;
  asm("mov.u32 %0, %%$register;" : "=r"(value));
  return value;
}

//@ end
// %is_explicit_cluster: whether the launch asked for clusters.
__device__ __forceinline__ bool is_explicit_cluster() {
  u32 is;
  asm("{\n\t.reg .pred is;\n\tmov.pred is, %%is_explicit_cluster;\n\tselp.u32 %0, 1, 0, is;\n\t}" : "=r"(is));
  return is;
}

// mapa: the .shared::cluster address in CTA `rank` of the cluster that corresponds to `address` in this one.
__device__ __forceinline__ u32 map_to_cta(u32 address, u32 rank) {
  u32 there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}

// getctarank: the rank of the CTA whose shared memory holds a .shared::cluster address.
__device__ __forceinline__ u32 cta_of(u32 address) {
  u32 rank;
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(address));
  return rank;
}

// barrier.cluster.arrive.release: this thread arrives; threads that have waited see its earlier accesses.
//@ # Every thread of the cluster must arrive and then wait, equally often.
__device__ __forceinline__ void arrive_at_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

// barrier.cluster.arrive.relaxed: this thread arrives, without ordering its accesses to memory.  PTX 8.0.
__device__ __forceinline__ void arrive_at_cluster_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

// barrier.cluster.wait.acquire: waits until every thread of the cluster has arrived.
__device__ __forceinline__ void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Waits for every thread of the cluster; their earlier accesses to memory are visible afterwards.
__device__ __forceinline__ void sync_cluster() {
  arrive_at_cluster();
  wait_for_cluster();
}

}  // namespace tmajit::ptx
