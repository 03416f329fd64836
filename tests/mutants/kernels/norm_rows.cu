// Two kernels like a serving engine's norms. The second begins while the first still runs, and loads its factors, which do not
// depend on the first. Then it waits for the sums of the first kernel and scales the rows in place.
#include "inline_ptx.cuh"

constexpr u32 columns = 128, bytes = columns * 4;

extern "C" __global__ void sum_rows(const float* rows, float* sums) {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  __shared__ float warp_sums[4];
  float sum = rows[blockIdx.x * columns + threadIdx.x];
  sum *= sum;
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = warp_sums[0] + warp_sums[1] + warp_sums[2] + warp_sums[3];
}

extern "C" __global__ void scale_rows(float* rows, const float* sums, const float* factors) {
  __shared__ alignas(128) float factor[columns];
  __shared__ alignas(8) u64 full;
  if (threadIdx.x == 0) {
    barrier_init(&full, 1);
    fence_barrier_init();
    barrier_expect(&full, bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(factor)),
                 "l"(factors), "r"(bytes), "r"(shared_address(&full))
                 : "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
  __syncthreads();
  barrier_wait(&full, 0);
  float* const own = rows + blockIdx.x * columns + threadIdx.x;
  *own *= factor[threadIdx.x] / sums[blockIdx.x];
}
