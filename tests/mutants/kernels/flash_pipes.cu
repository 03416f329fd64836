// Rows of an attention-like product in the style of FlashAttention-3: one warp loads Q once, and K and V through two pipelines.
// Two warpgroups alternate by named barriers, and the last warp stores the output from shared memory by a bulk store.
#include "inline_ptx.cuh"

constexpr int stages = 2, group_threads = 128, groups = 2, words = 256;
// Named barriers: 2 and 3 give a warpgroup its turn, 4 says that the output is written, 5 that it is stored.
constexpr u32 first_turn = 2, output_ready = 4, all_consumers = groups * group_threads;

struct State {
  int index = 0;
  u32 phase;
  __device__ explicit State(u32 first) : phase(first) {}
  __device__ void advance() {
    if (++index == stages) {
      index = 0;
      phase ^= 1;
    }
  }
};

extern "C" __global__ void __launch_bounds__(all_consumers + 128, 1)
    flash_pipes(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v,
                const __grid_constant__ TensorMap o, int blocks, int tiles) {
  __shared__ alignas(128) float q_tile[words], k_tile[stages][words], v_tile[stages][words], o_tile[words];
  __shared__ alignas(8) u64 q_full, q_empty, k_full[stages], k_empty[stages], v_full[stages], v_empty[stages];
  const int group = threadIdx.x / group_threads, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    barrier_init(&q_full, 1);
    barrier_init(&q_empty, all_consumers);
    for (int i = 0; i < stages; ++i) {
      barrier_init(&k_full[i], 1);
      barrier_init(&v_full[i], 1);
      barrier_init(&k_empty[i], all_consumers / 32);
      barrier_init(&v_empty[i], all_consumers / 32);
    }
    fence_barrier_init();
  }
  __syncthreads();
  if (group == groups) {
    if (warp == all_consumers / 32) {
      State state(1);
      for (int tile = blockIdx.x, turn = 0; tile < tiles; tile += gridDim.x, ++turn) {
        if (lane == 0) {
          barrier_wait(&q_empty, turn % 2 ^ 1);
          barrier_expect(&q_full, sizeof q_tile);
          tma_load(q, &q_full, q_tile, 0, tile * 4);
        }
        for (int n = 0; n < blocks; ++n) {
          if (lane == 0) {
            barrier_wait(&k_empty[state.index], state.phase);
            barrier_expect(&k_full[state.index], sizeof k_tile[0]);
            tma_load(k, &k_full[state.index], k_tile[state.index], 0, n * 4);
            barrier_wait(&v_empty[state.index], state.phase);
            barrier_expect(&v_full[state.index], sizeof v_tile[0]);
            tma_load(v, &v_full[state.index], v_tile[state.index], 0, n * 4);
          }
          state.advance();
        }
      }
    } else if (warp == all_consumers / 32 + 1) {
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        named_barrier_sync(output_ready, all_consumers + 32);
        if (lane == 0) {
          tma_store(o, o_tile, 0, tile * 4);
          tma_store_arrive();
          tma_store_wait<0>();
        }
        __syncwarp();
        named_barrier_arrive(output_ready + 1, all_consumers + 32);
      }
    }
  } else {
    if (group == 1) named_barrier_arrive(first_turn, all_consumers);
    State state(0);
    for (int tile = blockIdx.x, turn = 0; tile < tiles; tile += gridDim.x, ++turn) {
      barrier_wait(&q_full, turn % 2);
      const float mine = q_tile[threadIdx.x];
      float sum = 0;
      for (int n = 0; n < blocks; ++n) {
        barrier_wait(&k_full[state.index], state.phase);
        named_barrier_sync(first_turn + group, all_consumers);
        const float score = mine * k_tile[state.index][words - 1 - threadIdx.x];
        named_barrier_arrive(first_turn + (group ^ 1), all_consumers);
        __syncwarp();
        if (lane == 0) barrier_arrive(&k_empty[state.index]);
        barrier_wait(&v_full[state.index], state.phase);
        sum += score * v_tile[state.index][threadIdx.x ^ 31];
        __syncwarp();
        if (lane == 0) barrier_arrive(&v_empty[state.index]);
        state.advance();
      }
      barrier_arrive(&q_empty);
      if (turn > 0) named_barrier_sync(output_ready + 1, all_consumers + 32);
      o_tile[threadIdx.x] = sum;
      tma_store_fence();
      named_barrier_arrive(output_ready, all_consumers + 32);
    }
    named_barrier_sync(output_ready + 1, all_consumers + 32);
    if (group == 0) named_barrier_sync(first_turn, all_consumers);
  }
}
