// CUDA's sample of a reduction in one launch: every block stores its sum, and the last block to finish adds up the sums.
#include "inline_ptx.cuh"

extern "C" __global__ void last_block(const int* in, int* partial, u32* arrived, int* out) {
  __shared__ int values[128];
  __shared__ bool last;
  values[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int half = 64; half >= 32; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    int sum = values[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x == 0) {
      partial[blockIdx.x] = sum;
      __threadfence();
      last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  int all = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0;
  all = __reduce_add_sync(0xffffffff, all);
  if (threadIdx.x == 0) *out = all;
}
