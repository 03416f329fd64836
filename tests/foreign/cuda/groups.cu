// Cooperative groups: tiles, coalesced threads, clusters and a barrier of the whole grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void tiles_of_16(const int* in, int* sums, int* positions) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int mine = in[at];
  sums[at] = cg::reduce(tile, mine, cg::plus<int>());
  if (mine % 3 == 0) {
    auto together = cg::coalesced_threads();
    positions[at] = static_cast<int>(together.thread_rank());
  } else {
    positions[at] = cg::exclusive_scan(cg::coalesced_threads(), 1, cg::plus<int>());
  }
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int* in, int* out) {
  __shared__ int own;
  auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  atomicAdd(&own, in[blockIdx.x * blockDim.x + threadIdx.x]);
  cluster.sync();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned peer = 0; peer < cluster.num_blocks(); ++peer) sum += *cluster.map_shared_rank(&own, peer);
    out[blockIdx.x] = sum;
  }
  cluster.sync();
}

// Every block stores its sum, and after the grid barrier reads the sums of all blocks. It needs a cooperative
// launch.
extern "C" __global__ void grid_sum(const int* in, int* partial, int* out) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  const int sum = cg::reduce(warp, in[grid.thread_rank()], cg::plus<int>());
  if (warp.thread_rank() == 0) atomicAdd(partial + blockIdx.x, sum);
  grid.sync();
  if (block.thread_rank() == 0) {
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b];
    out[blockIdx.x] = all;
  }
}
