// Kernels in the style of the CUDA C++ Programming Guide, which use the toolkit's libcu++.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;
namespace cde = cuda::device::experimental;
using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init

/// Loads a tile through a tensor map, adds the column to its first row, and stores it.
extern "C" __global__ void add_index(const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ alignas(128) int tile[32][32];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  tile[0][threadIdx.x] += threadIdx.x;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
    (&bar)->~barrier();
  }
}

/// Adds one to an array by bulk copies without a tensor map.
extern "C" __global__ void add_one(int* data, size_t offset) {
  __shared__ alignas(16) int tile[256];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  if (threadIdx.x == 0)
    cuda::memcpy_async(tile, data + offset, cuda::aligned_size_t<16>(sizeof(tile)), bar);
  bar.wait(bar.arrive());
  for (int i = threadIdx.x; i < 256; i += blockDim.x) tile[i] += 1;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_shared_to_global(data + offset, tile, sizeof(tile));
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

/// One warp fills two buffers alternately and another warp reads them, with four barriers.
extern "C" __global__ void produce_consume(const int* in, int* out, int turns) {
  __shared__ int buffer[2][32];
  __shared__ barrier ready[2], filled[2];
  if (threadIdx.x < 2) {
    init(&ready[threadIdx.x], blockDim.x);
    init(&filled[threadIdx.x], blockDim.x);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int i = 0; i < turns; ++i) {
      ready[i % 2].arrive_and_wait();
      buffer[i % 2][lane] = 2 * in[32 * i + lane];
      (void)filled[i % 2].arrive();
    }
  } else {
    (void)ready[0].arrive();
    (void)ready[1].arrive();
    for (int i = 0; i < turns; ++i) {
      filled[i % 2].arrive_and_wait();
      out[32 * i + lane] = buffer[i % 2][lane];
      (void)ready[i % 2].arrive();
    }
  }
}

/// A histogram whose bins are distributed over the shared memory of a cluster's CTAs.
extern "C" __global__ void __cluster_dims__(2, 1, 1) histogram(const int* in, int count, int* bins) {
  __shared__ int mine[16];
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 16) mine[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int bin = in[i] % 32;
    atomicAdd(cluster.map_shared_rank(mine, bin / 16) + bin % 16, 1);
  }
  cluster.sync();
  if (threadIdx.x < 16) atomicAdd(&bins[16 * cluster.block_rank() + threadIdx.x], mine[threadIdx.x]);
}
