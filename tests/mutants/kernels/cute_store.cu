// Threads compute tiles, which the copy engine stores from two alternating buffers, as in CuTe's epilogues. A buffer is
// written again only after the engine has read it.
#include "inline_ptx.cuh"

extern "C" __global__ void cute_store(const __grid_constant__ TensorMap map, int tiles) {
  __shared__ alignas(128) float buffers[2][8 * 32];
  for (int t = 0; t < tiles; ++t) {
    float* const mine = buffers[t % 2];
    if (threadIdx.x == 0) tma_store_wait<1>();
    __syncthreads();
    for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) mine[i] = static_cast<float>(t * 1000 + i);
    tma_store_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
      tma_store(map, mine, 0, (blockIdx.x * tiles + t) * 8);
      tma_store_arrive();
    }
  }
  if (threadIdx.x == 0) tma_store_wait<0>();
}
