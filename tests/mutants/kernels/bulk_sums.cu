// Bulk copies and bulk reductions without tensor maps, as with libcu++'s cuda::ptx: a tile is loaded, changed by all threads,
// and added to global memory.
#include "inline_ptx.cuh"

constexpr u32 elements = 256, bytes = elements * 4;

extern "C" __global__ void bulk_sums(const int* in, int* sums, int tiles) {
  __shared__ alignas(128) int tile[2][elements];
  __shared__ alignas(8) u64 full[2];
  const bool first = threadIdx.x == 0;
  if (first) {
    barrier_init(&full[0], 1);
    barrier_init(&full[1], 1);
    fence_barrier_init();
  }
  __syncthreads();
  const auto load = [&](int t) {
    const int stage = t % 2;
    barrier_expect(&full[stage], bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(tile[stage])),
                 "l"(in + (blockIdx.x * tiles + t) * elements), "r"(bytes), "r"(shared_address(&full[stage]))
                 : "memory");
  };
  if (first) load(0);
  for (int t = 0; t < tiles; ++t) {
    const int stage = t % 2;
    if (first && t + 1 < tiles) {
      tma_store_wait<0>();  // the previous reduction has read the stage
      load(t + 1);
    }
    barrier_wait(&full[stage], t / 2 % 2);
    for (u32 i = threadIdx.x; i < elements; i += blockDim.x) tile[stage][i] *= 3;
    tma_store_fence();
    __syncthreads();
    if (first) {
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(sums),
                   "r"(shared_address(tile[stage])), "r"(bytes)
                   : "memory");
      tma_store_arrive();
    }
  }
  if (first) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
