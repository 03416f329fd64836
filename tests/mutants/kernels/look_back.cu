// A running sum in one pass in the style of CUB: each block publishes its sum, then looks back over the previous blocks until
// it finds one with a known prefix. Value and status are two words, ordered by a fence.
#include "inline_ptx.cuh"

constexpr u32 aggregate = 1, prefix = 2;

__device__ inline void store_status(u32* at, u32 value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"(value) : "memory");
}
__device__ inline u32 load_status(const u32* at) {
  u32 value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
}

extern "C" __global__ void look_back(const int* in, int* out, u32* status, int* aggregates, int* prefixes, u32* ticket) {
  __shared__ int sums[4];
  __shared__ int before;
  __shared__ u32 block;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
  __syncthreads();
  const u32 mine = block;
  int sum = in[mine * 128 + threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  int warps_before = 0, total = 0;
  for (int w = 0; w < 4; ++w) {
    if (w < warp) warps_before += sums[w];
    total += sums[w];
  }
  if (threadIdx.x == 0) {
    int exclusive = 0;
    if (mine != 0) {
      aggregates[mine] = total;
      __threadfence();
      store_status(status + mine, aggregate);
      for (u32 b = mine; b-- > 0;) {
        u32 seen;
        do {
          seen = load_status(status + b);
        } while (seen == 0);
        __threadfence();
        if (seen == prefix) {
          exclusive += prefixes[b];
          break;
        }
        exclusive += aggregates[b];
      }
    }
    prefixes[mine] = exclusive + total;
    __threadfence();
    store_status(status + mine, prefix);
    before = exclusive;
  }
  __syncthreads();
  out[mine * 128 + threadIdx.x] = before + warps_before + sum;
}
