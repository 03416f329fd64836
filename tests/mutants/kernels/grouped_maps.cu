// A kernel that sets a tensor map to its group's matrix, as CUTLASS's grouped products and Triton's device-side descriptors do:
// it changes the map in shared memory, releases it to global memory, acquires it and loads through it.
#include "inline_ptx.cuh"

extern "C" __global__ void grouped_maps(const __grid_constant__ TensorMap like, unsigned char* maps, float* matrix,
                                        float* out) {
  __shared__ alignas(128) TensorMap edited;
  __shared__ alignas(128) float tile[8 * 32];
  __shared__ alignas(8) u64 full;
  unsigned char* const mine = maps + blockIdx.x * 128;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    reinterpret_cast<u32*>(&edited)[lane] = reinterpret_cast<const u32*>(&like)[lane];
    __syncwarp();
    if (lane == 0) {
      asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(shared_address(&edited)),
                   "l"(matrix + blockIdx.x * 256)
                   : "memory");
    }
    __syncwarp();
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(mine),
        "r"(shared_address(&edited))
        : "memory");
  }
  if (threadIdx.x == 0) {
    barrier_init(&full, 1);
    fence_barrier_init();
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(mine) : "memory");
    barrier_expect(&full, sizeof tile);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];" ::"r"(
            shared_address(tile)),
        "l"(mine), "r"(shared_address(&full))
        : "memory");
  }
  __syncthreads();
  barrier_wait(&full, 0);
  for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) out[blockIdx.x * 256 + i] = tile[i];
}
