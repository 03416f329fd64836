// Two groups of warps that use one buffer alternately by named barriers, as in attention kernels. Each group waits at its own
// barrier and arrives at that of the other group.
#include "inline_ptx.cuh"

constexpr int group_threads = 64;
constexpr u32 first_turn = 2;  // barriers 2 and 3

extern "C" __global__ void ping_pong(const float* in, float* out, int rounds) {
  __shared__ float scratch[group_threads];
  const u32 group = threadIdx.x / group_threads, thread = threadIdx.x % group_threads;
  if (group == 1) named_barrier_arrive(first_turn, 2 * group_threads);
  for (int r = 0; r < rounds; ++r) {
    const float mine = in[(r * 2 + group) * group_threads + thread];
    named_barrier_sync(first_turn + group, 2 * group_threads);
    scratch[thread] = mine;
    named_barrier_sync(4 + group, group_threads);
    const float other = scratch[group_threads - 1 - thread];
    named_barrier_arrive(first_turn + (group ^ 1), 2 * group_threads);
    out[(r * 2 + group) * group_threads + thread] = mine + other;
  }
  if (group == 0) named_barrier_sync(first_turn, 2 * group_threads);
}
