// The histogram in distributed shared memory of CUDA's guide, and a sum that each CTA sends to the next CTA by st.async.
#include "inline_ptx.cuh"

constexpr u32 ctas = 2, bins = 16;

__device__ inline u32 map_rank(u32 address, u32 rank) {
  u32 mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

extern "C" __global__ void __cluster_dims__(ctas, 1, 1) cluster_histogram(const u32* in, u32* counts, u32* sums) {
  __shared__ u32 own[bins];
  __shared__ u32 sent;
  __shared__ alignas(8) u64 arrived;
  const u32 rank = cluster_rank();
  if (threadIdx.x < bins) own[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    barrier_init(&arrived, 1);
    fence_barrier_init();
    barrier_expect(&arrived, 4);
  }
  cluster_arrive();
  cluster_wait();

  const u32 value = in[blockIdx.x * 64 + threadIdx.x] % (ctas * bins);
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(
                   map_rank(shared_address(own + value % bins), value / bins))
               : "memory");
  if (threadIdx.x == 0) {
    const u32 next = (rank + 1) % ctas;
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     map_rank(shared_address(&sent), next)),
                 "r"(value), "r"(map_rank(shared_address(&arrived), next))
                 : "memory");
  }
  cluster_arrive();
  cluster_wait();
  if (threadIdx.x < bins) counts[blockIdx.x * bins + threadIdx.x] = own[threadIdx.x];
  barrier_wait(&arrived, 0);
  if (threadIdx.x == 0) sums[blockIdx.x] = sent + value;
}
