// out = a + b in tiles of 32×64 floats, written with libcu++: one warp loads, eight warps add, over a ring of
// stages.
#include <cuda.h>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

constexpr int stages = 4;
constexpr int tile_bytes = 8192;
constexpr int elements = tile_bytes / 4;
constexpr int workers = 256;

extern "C" __global__ void __launch_bounds__(workers + 32)
    pipeline(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             const __grid_constant__ CUtensorMap out, int tiles) {
  extern __shared__ __align__(1024) unsigned char memory[];
  __shared__ uint64_t full[stages], empty[stages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      ptx::mbarrier_init(&full[i], 1);
      ptx::mbarrier_init(&empty[i], workers);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();

  int stage = 0;
  int phase = 0;
  const auto next = [&] {
    if (++stage == stages) {
      stage = 0;
      phase ^= 1;
    }
  };
  if (threadIdx.x >= workers) {
    if (threadIdx.x != workers) return;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x, next()) {
      while (!ptx::mbarrier_try_wait_parity(&empty[stage], phase ^ 1)) {
      }
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[stage], 2 * tile_bytes);
      const int32_t at[2] = {0, t * 32};
      unsigned char* const to = memory + stage * 2 * tile_bytes;
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &a, at, &full[stage]);
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to + tile_bytes, &b, at, &full[stage]);
    }
    return;
  }

  float* const result = reinterpret_cast<float*>(memory + stages * 2 * tile_bytes);
  for (int t = blockIdx.x; t < tiles; t += gridDim.x, next()) {
    while (!ptx::mbarrier_try_wait_parity(&full[stage], phase)) {
    }
    const float* const x = reinterpret_cast<const float*>(memory + stage * 2 * tile_bytes);
    float sums[elements / workers];
    for (int i = 0; i < elements / workers; ++i)
      sums[i] = x[threadIdx.x + i * workers] + x[elements + threadIdx.x + i * workers];
    ptx::mbarrier_arrive(&empty[stage]);
    if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    asm volatile("bar.sync 1, %0;" ::"n"(workers) : "memory");
    for (int i = 0; i < elements / workers; ++i) result[threadIdx.x + i * workers] = sums[i];
    ptx::fence_proxy_async(ptx::space_shared);
    asm volatile("bar.sync 1, %0;" ::"n"(workers) : "memory");
    if (threadIdx.x == 0) {
      const int32_t at[2] = {0, t * 32};
      ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, result);
      ptx::cp_async_bulk_commit_group();
    }
  }
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}
