// Sums of tiles in the style of ThunderKittens: semaphores with a bit field of phases, a warp that loads, and worker warpgroups
// that each sum half of a stage. A warpgroup synchronises by its own named barrier, and one of its threads stores the result.
#include "inline_ptx.cuh"

constexpr int stages = 2, workers = 2, group_threads = 128;
constexpr int words = group_threads * 4;  // words in a warpgroup's half

struct Phases {
  u32 bits = 0xffff0000;  // the upper half belongs to semaphores that are free at first
  __device__ u32 full(int stage) const { return bits >> stage & 1; }
  __device__ u32 free(int stage) const { return bits >> (stage + 16) & 1; }
  __device__ void flip_full(int stage) { bits ^= 1U << stage; }
  __device__ void flip_free(int stage) { bits ^= 1U << (stage + 16); }
};

extern "C" __global__ void __launch_bounds__(workers * group_threads + 128)
    kittens(const __grid_constant__ TensorMap source, const __grid_constant__ TensorMap destination, int tiles) {
  __shared__ alignas(128) float tile[stages][workers][words];
  __shared__ alignas(128) float result[workers][words];
  __shared__ alignas(8) u64 arrived[stages], finished[stages];
  const int group = threadIdx.x / group_threads, thread = threadIdx.x % group_threads, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(&arrived[i], 1);
      barrier_init(&finished[i], workers * group_threads / 32);
    }
    fence_barrier_init();
  }
  __syncthreads();
  Phases phases;
  if (group == workers) {
    if (threadIdx.x == workers * group_threads) {
      for (int t = 0; t < tiles; ++t) {
        const int stage = t % stages;
        barrier_wait(&finished[stage], phases.free(stage));
        phases.flip_free(stage);
        barrier_expect(&arrived[stage], sizeof tile[0]);
        tma_load(source, &arrived[stage], tile[stage][0], 0, t * 8);
        tma_load(source, &arrived[stage], tile[stage][1], 0, t * 8 + 4);
      }
    }
  } else {
    float sums[4] = {};
    for (int t = 0; t < tiles; ++t) {
      const int stage = t % stages;
      barrier_wait(&arrived[stage], phases.full(stage));
      phases.flip_full(stage);
#pragma unroll
      for (int i = 0; i < 4; ++i) sums[i] += tile[stage][group][words - 1 - thread - i * group_threads];
      __syncwarp();
      if (lane == 0) barrier_arrive(&finished[stage]);
#pragma unroll
      for (int i = 0; i < 4; ++i) result[group][thread + i * group_threads] = sums[i];
      tma_store_fence();
      named_barrier_sync(1 + group, group_threads);
      if (thread == 0) {
        tma_store(destination, result[group], 0, t * 8 + group * 4);
        tma_store_arrive();
        tma_store_wait<0>();
      }
      named_barrier_sync(1 + group, group_threads);
    }
  }
  __syncthreads();
}
