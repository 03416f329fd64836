// Kernels that store and wait under two differently written conditions. Without the macro `mutant` the
// conditions are equivalent, so that every thread that stores also waits. With `mutant` the condition of the
// wait is too narrow, or that of the store too wide.

__device__ inline void store_tile(char* out, const char* tile) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out), "r"(from) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
__device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ inline void pause() {
  asm volatile("nanosleep.u32 100;" ::: "memory");
}
__device__ inline bool elected() {
  unsigned yes;
  asm volatile(
      "{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(yes));
  return yes != 0;
}

#define KERNEL(name) extern "C" __global__ void name(char* out, int n, int m, const int* numbers)
#define TILE __shared__ __align__(128) char tile[1024]
#define TID static_cast<int>(threadIdx.x)

// The thread that stores is one of the threads that wait.
KERNEL(one_of_a_warp) {
  TILE;
  if (TID == 0) store_tile(out, tile);
  pause();
  if (mutant ? TID >= 32 : TID < 32) wait_for_stores();
}

KERNEL(first_lanes) {
  TILE;
  if (TID == 64) store_tile(out, tile);
  pause();
  if ((TID & 31) == (mutant ? 1 : 0)) wait_for_stores();
}

KERNEL(warp_of_a_thread) {
  TILE;
  if (TID == 33) store_tile(out, tile);
  pause();
  if (TID >> 5 == (mutant ? 0 : 1)) wait_for_stores();
}

KERNEL(lane_and_warp) {
  TILE;
  if ((TID & 31) == 0 && TID / 32 == 2) store_tile(out, tile);
  pause();
  if (TID == (mutant ? 65 : 64)) wait_for_stores();
}

KERNEL(either_of_two_threads) {
  TILE;
  if (TID == 0 || TID == 32) store_tile(out, tile);
  pause();
  if (mutant ? TID == 0 : TID % 32 == 0) wait_for_stores();
}

KERNEL(more_than_none) {
  TILE;
  if (TID == 0 && n > 0) store_tile(out, tile);
  pause();
  if (TID == 0 && n >= (mutant ? 2 : 0)) wait_for_stores();
}

KERNEL(not_none) {
  TILE;
  if (TID == 0 && n > 3) store_tile(out, tile);
  pause();
  if (TID == 0 && (mutant ? n == 0 : n != 0)) wait_for_stores();
}

KERNEL(less_and_not_more) {
  TILE;
  if (n < m) store_tile(out, tile);
  pause();
  if (mutant ? m <= n : !(m <= n)) wait_for_stores();
}

KERNEL(less_and_unequal) {
  TILE;
  if (n < m) store_tile(out, tile);
  pause();
  if (mutant ? n == m : n != m) wait_for_stores();
}

KERNEL(one_less) {
  TILE;
  if (n + (mutant ? 0 : 1) < m) store_tile(out, tile);
  pause();
  if (n + (mutant ? 1 : 0) < m) wait_for_stores();
}

KERNEL(one_of_two_conditions) {
  TILE;
  if (TID == 0 && n > m) store_tile(out, tile);
  pause();
  if (mutant ? TID == 0 && n <= m : TID == 0) wait_for_stores();
}

KERNEL(elected_twice) {
  TILE;
  if (TID / 32 == 1 && elected()) store_tile(out, tile);
  pause();
  if (TID / 32 == 1 && elected() != mutant) wait_for_stores();
}

KERNEL(elected_of_a_warp) {
  TILE;
  if (TID < 32 && elected()) store_tile(out, tile);
  pause();
  if (TID / 32 == (mutant ? 1 : 0)) wait_for_stores();
}

KERNEL(shuffled_warp) {
  TILE;
  const int warp = __shfl_sync(0xffffffff, TID / 32, 0);
  if (warp == 1 && TID % 32 == 0) store_tile(out, tile);
  pause();
  if (TID == (mutant ? 0 : 32)) wait_for_stores();
}

KERNEL(shuffled_twice) {
  TILE;
  if (__shfl_sync(0xffffffff, TID / 32, 0) == 2 && elected()) store_tile(out, tile);
  pause();
  if (__shfl_sync(0xffffffff, TID / 32, 0) == (mutant ? 3 : 2)) wait_for_stores();
}

KERNEL(stored_flag) {
  TILE;
  bool stored = false;
  if (numbers[TID] == 7) {
    store_tile(out, tile);
    stored = !mutant || n > 0;
  }
  pause();
  if (stored) wait_for_stores();
}

KERNEL(counted_stores) {
  TILE;
  int pending = 0;
  if (numbers[0] == 7) store_tile(out, tile), pending += mutant ? 0 : 1;
  if (numbers[1] == 7) store_tile(out + 1024, tile), ++pending;
  pause();
  if (pending > 0) wait_for_stores();
}

KERNEL(flag_of_a_loop) {
  TILE;
  bool stored = false;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    if (numbers[i] != 7) continue;
    store_tile(out + i * 1024, tile);
    stored = !mutant || i > 3;
  }
  if (stored) wait_for_stores();
}

KERNEL(loop_that_runs) {
  TILE;
#pragma unroll 1
  for (int i = 0; i < n; ++i) store_tile(out + i * 1024, tile);
  pause();
  if (n > (mutant ? 1 : 0)) wait_for_stores();
}

KERNEL(all_but_the_last_iteration) {
  TILE;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    if (i + 1 < m) store_tile(out + i * 1024, tile);
    pause();
    if (mutant ? i + 2 < m : i < m) wait_for_stores();
  }
}

KERNEL(modes) {
  TILE;
  switch (n) {
    case 0:
    case 1: store_tile(out, tile); break;
    case 2: pause(); break;
    default: break;
  }
  pause();
  if (static_cast<unsigned>(n) < (mutant ? 1 : 2)) wait_for_stores();
}

KERNEL(threads_that_stay) {
  TILE;
  if (TID >= 128) return;
  pause();
  if (TID == 96) store_tile(out, tile);
  pause();
  if (mutant ? TID < 64 : TID < 200) wait_for_stores();
}

KERNEL(wide_numbers) {
  TILE;
  const unsigned long long count = static_cast<unsigned>(n);
  if (count != 0) store_tile(out, tile);
  pause();
  if (mutant ? n > 1 : static_cast<unsigned>(n) > 0) wait_for_stores();
}

KERNEL(roles) {
  TILE;
  const int warp = TID / 32;
  if (warp == 0) {
    pause();
  } else if (warp < 4) {
    if (TID == 32) store_tile(out, tile);
  }
  __syncthreads();
  if (mutant ? warp == 0 : warp != 0) wait_for_stores();
}

KERNEL(exclusive_flags) {
  TILE;
  const bool a = numbers[0] > 0;
  const bool b = numbers[1] > 0;
  if (a != b) store_tile(out, tile);
  pause();
  if (mutant ? a && b : a || b) wait_for_stores();
}
