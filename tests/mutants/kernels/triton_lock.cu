// A sum under a lock, as Triton compiles it: the threads reduce through shuffles and shared memory. One thread acquires the
// lock by a compare-and-swap and releases it by an exchange.
#include "inline_ptx.cuh"

extern "C" __global__ void triton_lock(const int* in, int* lock, int* sum) {
  __shared__ int partial[4];
  int mine = in[blockIdx.x * 128 + threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_xor_sync(0xffffffff, mine, distance);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    int seen;
    do {
      asm volatile("atom.global.gpu.acq_rel.cas.b32 %0, [%1], 0, 1;" : "=r"(seen) : "l"(lock) : "memory");
    } while (seen != 0);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    int all = threadIdx.x < 4 ? partial[threadIdx.x] : 0;
    for (int distance = 2; distance > 0; distance /= 2) all += __shfl_xor_sync(0xffffffff, all, distance);
    if (threadIdx.x == 0) *sum += all;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    int seen;
    asm volatile("atom.global.gpu.acq_rel.exch.b32 %0, [%1], 0;" : "=r"(seen) : "l"(lock) : "memory");
  }
}
