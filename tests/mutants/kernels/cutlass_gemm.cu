// C = A B of f16 in the style of CUTLASS's persistent, warp-specialised kernels for Hopper: one warpgroup loads tiles into a
// ring of stages, two warpgroups multiply 64 rows each, and the copy engine stores C.
#include "inline_ptx.cuh"

constexpr int tile_m = 128, tile_n = 16, tile_k = 64, stages = 2;
constexpr int consumers = 256;  // threads

struct Params {
  TensorMap a, b, c;
  int tiles, k_tiles;
};
struct SharedStorage {
  alignas(1024) unsigned char a[stages][tile_m * tile_k * 2];
  alignas(1024) unsigned char b[stages][tile_n * tile_k * 2];
  alignas(128) float c[tile_m][tile_n];
  alignas(8) u64 full[stages], empty[stages];
};
// The position of a producer or consumer in the ring: the stage and the phase to wait for.
struct PipelineState {
  u32 index = 0, phase = 0;
  __device__ void operator++() {
    if (++index == stages) {
      index = 0;
      phase ^= 1;
    }
  }
};

extern "C" __global__ void __launch_bounds__(384, 1) cutlass_gemm(const __grid_constant__ Params params) {
  extern __shared__ __align__(1024) unsigned char memory[];
  SharedStorage& shared = *reinterpret_cast<SharedStorage*>(memory);
  const int warp = threadIdx.x / 32;
  if (warp == 0 && elect_one()) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(&shared.full[i], 1);
      barrier_init(&shared.empty[i], consumers);
    }
    fence_barrier_init();
  }
  __syncthreads();

  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 0 && elect_one()) {
      PipelineState state{0, 1};  // with phase 1 the first waits succeed at once, since the stages are empty
      for (int tile = blockIdx.x; tile < params.tiles; tile += gridDim.x) {
        for (int k = 0; k < params.k_tiles; ++k, ++state) {
          barrier_wait(&shared.empty[state.index], state.phase);
          barrier_expect(&shared.full[state.index], sizeof shared.a[0] + sizeof shared.b[0]);
          tma_load(params.a, &shared.full[state.index], shared.a[state.index], k * tile_k, tile * tile_m);
          tma_load(params.b, &shared.full[state.index], shared.b[state.index], k * tile_k, 0);
        }
      }
    }
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int thread = threadIdx.x - 128;
  PipelineState state;
  for (int tile = blockIdx.x; tile < params.tiles; tile += gridDim.x) {
    float sums[8];
    for (int k = 0; k < params.k_tiles; ++k, ++state) {
      barrier_wait(&shared.full[state.index], state.phase);
      const u64 a = descriptor(shared.a[state.index] + thread / 128 * 8192), b = descriptor(shared.b[state.index]);
      warpgroup_arrive();
#pragma unroll
      for (int step = 0; step < tile_k / 16; ++step) warpgroup_product(sums, a + 2 * step, b + 2 * step, k + step);
      warpgroup_commit();
      warpgroup_wait<0>();
      barrier_arrive(&shared.empty[state.index]);
    }
    if (thread == 0) tma_store_wait<0>();
    named_barrier_sync(1, consumers);
    const int row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < 8; ++i) shared.c[row + i / 2 % 2 * 8][column + i / 4 * 8 + i % 2] = sums[i];
    tma_store_fence();
    named_barrier_sync(1, consumers);
    if (thread == 0) {
      tma_store(params.c, shared.c, 0, tile * tile_m);
      tma_store_arrive();
    }
  }
  if (thread == 0) tma_store_wait<0>();
}
