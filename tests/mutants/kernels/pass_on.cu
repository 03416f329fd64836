// Each CTA of a cluster sends its data to the next CTA by a bulk copy, as in ring exchanges of halos or attention keys.
#include "inline_ptx.cuh"

constexpr u32 ctas = 4, values = 64;

__device__ inline u32 map_rank(u32 address, u32 rank) {
  u32 mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

extern "C" __global__ void __cluster_dims__(ctas, 1, 1) pass_on(const u32* in, u32* out) {
  __shared__ alignas(128) u32 mine[values];
  __shared__ alignas(128) u32 theirs[values];
  __shared__ alignas(8) u64 arrived;
  const u32 next = (cluster_rank() + 1) % ctas;
  if (threadIdx.x == 0) {
    barrier_init(&arrived, 1);
    fence_barrier_init();
    barrier_expect(&arrived, sizeof theirs);
  }
  mine[threadIdx.x] = in[blockIdx.x * values + threadIdx.x];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  cluster_arrive();
  cluster_wait();

  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     map_rank(shared_address(theirs), next)),
                 "r"(shared_address(mine)), "r"(u32(sizeof mine)), "r"(map_rank(shared_address(&arrived), next))
                 : "memory");
  }
  barrier_wait(&arrived, 0);
  out[blockIdx.x * values + threadIdx.x] = theirs[threadIdx.x];
  cluster_arrive();
  cluster_wait();
}
