// C = A B of f16 in the style of DeepGEMM: one thread loads tiles, four warps multiply, and one lane of each warp
// releases a stage. The parity is computed from a counter over all tiles.
#include "inline_ptx.cuh"

constexpr int tile_m = 64, tile_n = 16, tile_k = 64, stages = 3;
constexpr int math_threads = 128;

extern "C" __global__ void __launch_bounds__(256, 1)
    deep_gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap c,
              int tiles, int k_tiles) {
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* const smem_a = memory;                                     // 8192 bytes for each stage
  unsigned char* const smem_b = smem_a + stages * tile_m * tile_k * 2;      // 2048
  float(*const smem_c)[tile_n] = reinterpret_cast<float(*)[tile_n]>(smem_b + stages * tile_n * tile_k * 2);
  u64* const full = reinterpret_cast<u64*>(smem_c + tile_m);
  u64* const empty = full + stages;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == math_threads) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(&full[i], 1);
      barrier_init(&empty[i], math_threads / 32);
    }
    fence_barrier_init();
  }
  __syncthreads();

  if (threadIdx.x >= math_threads) {
    if (threadIdx.x == math_threads) {
      int count = 0;
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        for (int k = 0; k < k_tiles; ++k, ++count) {
          const int stage = count % stages, parity = count / stages & 1;
          barrier_wait(&empty[stage], parity ^ 1);
          tma_load(a, &full[stage], smem_a + stage * 8192, k * tile_k, tile * tile_m);
          tma_load(b, &full[stage], smem_b + stage * 2048, k * tile_k, 0);
          barrier_expect(&full[stage], 8192 + 2048);
        }
      }
    }
  } else {
    int count = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      float sums[8];
      for (int k = 0; k < k_tiles; ++k, ++count) {
        const int stage = count % stages, parity = count / stages & 1;
        barrier_wait(&full[stage], parity);
        const u64 x = descriptor(smem_a + stage * 8192), y = descriptor(smem_b + stage * 2048);
        warpgroup_arrive();
#pragma unroll
        for (int step = 0; step < tile_k / 16; ++step) warpgroup_product(sums, x + 2 * step, y + 2 * step, k + step);
        warpgroup_commit();
        warpgroup_wait<0>();
        if (lane == 0) barrier_arrive(&empty[stage]);
      }
      if (threadIdx.x == 0) tma_store_wait<0>();
      named_barrier_sync(1, math_threads);
#pragma unroll
      for (int i = 0; i < 8; ++i) smem_c[warp * 16 + lane / 4 + i / 2 % 2 * 8][lane % 4 * 2 + i / 4 * 8 + i % 2] = sums[i];
      tma_store_fence();
      named_barrier_sync(1, math_threads);
      if (threadIdx.x == 0) {
        tma_store(c, smem_c, 0, tile * tile_m);
        tma_store_arrive();
      }
    }
    if (threadIdx.x == 0) tma_store_wait<0>();
  }
  __syncthreads();
}
