// C = A B of f16, as Triton lowers a loop of descriptor loads and tl.dot without warp specialisation. One
// thread loads tiles of A and B two steps ahead, and all threads wait for them. Before the product, the
// threads copy the tile of A to another buffer in shared memory.
#include "inline_ptx.cuh"

constexpr int stages = 2;

extern "C" __global__ void __launch_bounds__(128)
    triton_pipeline(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* out,
                    int steps) {
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* const tiles_a = memory;                    // 64 x 64 f16 for each stage
  unsigned char* const tiles_b = memory + stages * 8192;    // 16 x 64 f16 for each stage
  uint4* const copy_of_a = reinterpret_cast<uint4*>(memory + stages * 10240);
  u64* const full = reinterpret_cast<u64*>(memory + stages * 10240 + 8192);
  const bool is_loader = threadIdx.x == 0;
  if (is_loader) {
    for (int i = 0; i < stages; ++i) barrier_init(&full[i], 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const auto load = [&](int step) {
    const int stage = step % stages;
    if (!is_loader || step >= steps) return;
    barrier_expect(&full[stage], 10240);  // the bytes of both tiles
    tma_load(a, &full[stage], tiles_a + stage * 8192, step * 64, blockIdx.x * 64);
    tma_load(b, &full[stage], tiles_b + stage * 2048, step * 64, 0);
  };
  for (int i = 0; i < stages; ++i) load(i);
  float sums[8];
  for (int step = 0; step < steps; ++step) {
    const int stage = step % stages;
    barrier_wait(&full[stage], step / stages % 2);
    // The copy keeps the order of bytes, and with it the swizzle.
    const uint4* const tile_a = reinterpret_cast<const uint4*>(tiles_a + stage * 8192);
    for (int i = threadIdx.x; i < 512; i += 128) copy_of_a[i] = tile_a[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const u64 descriptor_a = descriptor(copy_of_a), descriptor_b = descriptor(tiles_b + stage * 2048);
    warpgroup_arrive();
    // A product takes 16 of the 64 columns, 32 bytes. So the descriptors' addresses, in units of 16 bytes,
    // advance by 2. The very first product overwrites `sums`, and all later products add to it.
#pragma unroll
    for (int k = 0; k < 4; ++k) warpgroup_product(sums, descriptor_a + 2 * k, descriptor_b + 2 * k, step + k);
    warpgroup_commit();
    warpgroup_wait<0>();
    __syncthreads();
    load(step + stages);
  }
  // Each thread stores the 8 elements of C that it holds.
#pragma unroll
  for (int i = 0; i < 8; ++i) out[(blockIdx.x * 128 + threadIdx.x) * 8 + i] = sums[i];
}
