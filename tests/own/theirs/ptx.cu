// Kernels that use the instructions of cuda::ptx.
#include <cuda.h>
#include <cuda/ptx>
#include <cuda/std/cstdint>

namespace ptx = cuda::ptx;

/// Scales floats, which bulk copies load and store.
extern "C" __global__ void scale(const float* in, float* out, float factor) {
  __shared__ alignas(128) float tile[512];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + 512 * blockIdx.x, sizeof(tile), &full);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(tile));
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  for (int i = threadIdx.x; i < 512; i += blockDim.x) tile[i] *= factor;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 512 * blockIdx.x, tile, sizeof(tile));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  }
}

/// Every CTA loads tiles through a tensor map into two stages, and adds them to the same sums by the copy
/// engine's reduction.
extern "C" __global__ void sum_tiles(const __grid_constant__ CUtensorMap map, float* sums, int tiles) {
  __shared__ alignas(128) float tile[2][8][32];
  __shared__ uint64_t full[2];
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full[0], 1);
    ptx::mbarrier_init(&full[1], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    const auto load = [&](int i) {
      const int32_t at[2] = {0, 8 * (static_cast<int>(blockIdx.x) * tiles + i)};
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile[i % 2], &map, at, &full[i % 2]);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[i % 2],
                                     sizeof(tile[0]));
    };
    load(0);
    for (int i = 0; i < tiles; ++i) {
      if (i + 1 < tiles) {
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
        load(i + 1);
      }
      while (!ptx::mbarrier_try_wait_parity(&full[i % 2], i / 2 % 2)) {
      }
      ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sums, &tile[i % 2][0][0],
                                sizeof(tile[0]));
      ptx::cp_async_bulk_commit_group();
    }
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
  }
}

/// Each load multicasts to both CTAs of a cluster.
extern "C" __global__ void __cluster_dims__(2, 1, 1) multicast(const int* in, int* out) {
  __shared__ alignas(128) int tile[256];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(tile));
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x == 0 && blockIdx.x % 2 == 0)
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in + 128 * blockIdx.x, sizeof(tile), &full,
                       uint16_t{3});
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
  }
  out[256 * blockIdx.x + threadIdx.x] = tile[threadIdx.x] + static_cast<int>(blockIdx.x);
}

/// Each CTA stores a word asynchronously to the other CTA's shared memory, completing on that CTA's mbarrier.
extern "C" __global__ void __cluster_dims__(2, 1, 1) exchange(const int* in, int* out) {
  __shared__ alignas(16) int slot;
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof(slot));
    const unsigned other = blockIdx.x % 2 ^ 1;
    auto* const their_slot = static_cast<int*>(__cluster_map_shared_rank(&slot, other));
    auto* const their_full = static_cast<uint64_t*>(__cluster_map_shared_rank(&full, other));
    ptx::st_async(their_slot, in[blockIdx.x], their_full);
    while (!ptx::mbarrier_try_wait_parity(&full, 0)) {
    }
    out[blockIdx.x] = slot;
  }
}
