// Producer warps load by cp.async, whose completion arrives at the stage's mbarrier (as with CUTLASS's
// cpasync_barrier_arrive_noinc). Consumers release the stage at another mbarrier.
#include "inline_ptx.cuh"

constexpr int producers = 32, consumers = 64, stages = 2, tile = producers * 8;  // words

extern "C" __global__ void async_arrivals(const int* in, int* out, int tiles) {
  __shared__ alignas(128) int memory[stages][tile];
  __shared__ alignas(8) u64 full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(&full[i], producers);
      barrier_init(&empty[i], consumers);
    }
  }
  __syncthreads();
  if (threadIdx.x < producers) {
    for (int t = 0; t < tiles; ++t) {
      const int stage = t % stages;
      barrier_wait(&empty[stage], t / stages % 2 ^ 1);
      for (int i = 0; i < 2; ++i) {
        const int at = (i * producers + static_cast<int>(threadIdx.x)) * 4;
        cp_async_16(&memory[stage][at], in + t * tile + at);
      }
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full[stage])) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    return;
  }
  for (int t = 0; t < tiles; ++t) {
    const int stage = t % stages;
    barrier_wait(&full[stage], t / stages % 2);
    for (int i = threadIdx.x - producers; i < tile; i += consumers) out[t * tile + tile - 1 - i] = memory[stage][i];
    barrier_arrive(&empty[stage]);
  }
}
