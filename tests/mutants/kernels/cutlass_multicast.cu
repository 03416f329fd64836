// Sums of tiles in the style of CUTLASS's kernels for clusters: each of two CTAs loads half of every tile for both CTAs. A
// stage is refilled after the consumers of both CTAs have released it.
#include "inline_ptx.cuh"

constexpr int rows = 32, columns = 32, stages = 2, ctas = 2;
constexpr int half_tile = rows / ctas * columns;

extern "C" __global__ void __cluster_dims__(ctas, 1, 1) __launch_bounds__(128)
    cutlass_multicast(const __grid_constant__ TensorMap source, float* sums, int tiles) {
  __shared__ alignas(128) float values[stages][rows * columns];
  __shared__ alignas(8) u64 full[stages], empty[stages];
  const u32 rank = cluster_rank();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(&full[i], 1);
      barrier_init(&empty[i], 3 * ctas);  // one lane of each consumer warp of both CTAs
    }
    fence_barrier_init();
  }
  cluster_arrive();
  cluster_wait();

  if (warp == 0) {
    if (elect_one()) {
      for (int t = 0; t < tiles; ++t) {
        const int stage = t % stages;
        barrier_wait(&empty[stage], t / stages % 2 ^ 1);
        barrier_expect(&full[stage], sizeof values[0]);
        tma_load_multicast(source, &full[stage], 0x3, values[stage] + rank * half_tile, 0,
                           t * rows + static_cast<int>(rank) * rows / ctas);
      }
    }
  } else {
    float sum = 0;
    for (int t = 0; t < tiles; ++t) {
      const int stage = t % stages;
      barrier_wait(&full[stage], t / stages % 2);
      for (int i = threadIdx.x - 32; i < rows * columns; i += 96) sum += values[stage][i];
      __syncwarp();
      if (lane < ctas) barrier_arrive_at(&empty[stage], lane);
    }
    sums[blockIdx.x * 96 + threadIdx.x - 32] = sum;
  }
  cluster_arrive();
  cluster_wait();
}
