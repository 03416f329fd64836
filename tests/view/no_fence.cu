// A kernel without a proxy fence between the writes to shared memory and the bulk store that reads them.
__device__ void store(float* out, const float* tile) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(out),
               "r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))) : "memory");
  asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
}
extern "C" __global__ void wrong(float* out) {
  __shared__ alignas(128) float tile[128];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    tile[threadIdx.x] = i;
    __syncthreads();
    if (threadIdx.x == 0) store(out + 128 * i, tile);
    __syncthreads();
  }
}
