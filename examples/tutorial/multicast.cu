// Adds a table to each matrix of a batch, in tiles of 64 × 32 floats. The CTAs of a cluster work on the same
// tile of successive matrices. Each CTA loads its matrix's tile. All CTAs of the cluster need the same tile of
// the table: each loads a part of it and multicasts that part to all. The host program defines the constant
// `unsigned cluster`, the number of CTAs in a cluster, before this text.
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/cluster.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/shared_memory.cuh"

using namespace tmajit;

constexpr u32 rows = 64, columns = 32;
constexpr u32 elements = rows * columns;
constexpr u32 tile_bytes = elements * 4;
constexpr u32 part_rows = rows / cluster;
static_assert(part_rows * cluster == rows, "the CTAs of a cluster load equal parts of a tile's rows");
constexpr u32 part_bytes = tile_bytes / cluster;

// One CTA of 256 threads for each matrix (x), column of tiles (y) and row of tiles (z).
extern "C" __global__ void __launch_bounds__(256)
    add_table(const __grid_constant__ TensorMap destination, const __grid_constant__ TensorMap source,
              const __grid_constant__ TensorMap table) {
  __shared__ u64 word;
  float* const x = reinterpret_cast<float*>(aligned_shared_memory());
  float* const t = x + elements;
  const bool leads = threadIdx.x == 0;
  const i32 column = static_cast<i32>(blockIdx.y * columns), row = static_cast<i32>(blockIdx.z * rows);
  const Coordinates<3> at{column, row, static_cast<i32>(blockIdx.x)};

  const auto arrived = Barrier<>(word).init(1, leads);
  ptx::sync_cluster();  // every CTA has initialised its barrier before a load of any CTA completes on it
  if (leads) {
    arrived.expect(2 * tile_bytes);  // its matrix's tile, and the table's parts from all CTAs
    ptx::tensor_load(ptx::shared_address(x), source, at, arrived.address());
    const u32 rank = ptx::cluster_ctarank();
    const Coordinates<2> part{column, row + static_cast<i32>(rank * part_rows)};
    ptx::tensor_load(ptx::shared_address(t) + rank * part_bytes, table, part, arrived.address(),
                     all_ctas<cluster>());
  }
  arrived.wait(0);

  for (u32 i = threadIdx.x; i < elements; i += blockDim.x) x[i] += t[i];

  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (leads) {
    ptx::tensor_store(destination, at, ptx::shared_address(x));
    ptx::commit_group();
    ptx::wait_group_read<0>();
  }
}
