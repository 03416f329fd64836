// A product as Triton lowers a loop of descriptor loads and tl.dot, without warp specialisation: one thread loads tiles two
// steps ahead, every thread waits for them, and the first factor passes through registers and shared memory.
#include "inline_ptx.cuh"

constexpr int stages = 2;

extern "C" __global__ void __launch_bounds__(128)
    triton_pipeline(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* out, int steps) {
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* const tiles_a = memory;                    // 64 x 64 halves each
  unsigned char* const tiles_b = memory + stages * 8192;    // 16 x 64
  uint4* const factor = reinterpret_cast<uint4*>(memory + stages * 10240);
  u64* const full = reinterpret_cast<u64*>(memory + stages * 10240 + 8192);
  const bool first = threadIdx.x == 0;
  if (first) {
    for (int i = 0; i < stages; ++i) barrier_init(&full[i], 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  const auto load = [&](int step) {
    const int stage = step % stages;
    if (!first || step >= steps) return;
    barrier_expect(&full[stage], 10240);
    tma_load(a, &full[stage], tiles_a + stage * 8192, step * 64, blockIdx.x * 64);
    tma_load(b, &full[stage], tiles_b + stage * 2048, step * 64, 0);
  };
  for (int i = 0; i < stages; ++i) load(i);
  float sums[8];
  for (int step = 0; step < steps; ++step) {
    const int stage = step % stages;
    barrier_wait(&full[stage], step / stages % 2);
    // The threads copy the swizzled tile unchanged: each copies 64 bytes to the same offsets.
    const uint4* const from = reinterpret_cast<const uint4*>(tiles_a + stage * 8192);
    for (int i = threadIdx.x; i < 512; i += 128) factor[i] = from[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const u64 x = descriptor(factor), y = descriptor(tiles_b + stage * 2048);
    warpgroup_arrive();
#pragma unroll
    for (int k = 0; k < 4; ++k) warpgroup_product(sums, x + 2 * k, y + 2 * k, step + k);
    warpgroup_commit();
    warpgroup_wait<0>();
    __syncthreads();
    load(step + stages);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) out[(blockIdx.x * 128 + threadIdx.x) * 8 + i] = sums[i];
}
