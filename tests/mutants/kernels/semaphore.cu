// Blocks add to a sum one after the other, as CUTLASS's Semaphore orders the parts of a split product. A thread polls until it
// is its block's turn, while the block repeats a barrier. After all threads have added, the next block's turn is published.
#include "inline_ptx.cuh"

extern "C" __global__ void semaphore(const int* in, int* sums, int* lock) {
  const int mine = in[blockIdx.x * 64 + threadIdx.x];
  int turn = -1;
  while (__syncthreads_and(turn != static_cast<int>(blockIdx.x))) {
    if (threadIdx.x == 0) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(turn) : "l"(lock) : "memory");
    turn = threadIdx.x == 0 ? turn : -1;
  }
  __syncthreads();
  sums[threadIdx.x] = blockIdx.x == 0 ? mine : sums[threadIdx.x] + mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    const int next = blockIdx.x + 1 == gridDim.x ? 0 : static_cast<int>(blockIdx.x) + 1;
    asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(lock), "r"(next) : "memory");
  }
}
