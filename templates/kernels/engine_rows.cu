// engine_rows: moves a tensor between two views that share their contiguous dimension, the last, by the copy
// engine alone.
//
// A CTA moves `stages` tiles, boxes over all dimensions: one thread issues all their loads at once, and stores each
// tile as soon as it has arrived. No thread touches the data, so no fence is needed. Tensor maps have elements of 8
// bytes, whatever the tensor's element type.
//
//   source --copy engine--> `stages` tiles in shared memory, an mbarrier each --copy engine--> destination
//@ # Facts of the kernel: rank, map_rank, stages, in_parts, source_box, destination_box.
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/engine_grid.cuh"
#include "tmajit/tile_index.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/ring.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map.cuh"

namespace tmajit {

__device__ __forceinline__ void engine_rows(const TensorMap& destination, const TensorMap& source,
                                            const params::EngineGrid<rank>& grid, const params::EngineBox& box) {
  __shared__ u64 barriers[stages];
  if (threadIdx.x != 0) return;
  ptx::prefetch_tensor_map(source);
  ptx::prefetch_tensor_map(destination);
  const RingBarriers arrived{ptx::shared_address(barriers)};
  arrived.init<stages>(1);
  ptx::fence_mbarrier_init();

  const u32 tiles = ptx::shared_address(aligned_shared_memory());
  const u32 first = blockIdx.x * stages;
  const u32 parts = in_parts ? box.parts : 1;
#pragma unroll
  for (u32 stage = 0; stage < stages; ++stage) {
    if (first + stage >= grid.count) break;
    Coordinates<map_rank> at = source_box(grid, TileIndex<rank>(grid, first + stage));
    ptx::mbarrier::arrive_expect_tx(arrived[stage], box.load_bytes);
#pragma unroll 1
    for (u32 p = 0; p < parts; ++p, at.at[0] += box.part) {
      ptx::tensor_load(tiles + (stage * parts + p) * box.part_bytes, source, at, arrived[stage]);
    }
  }
#pragma unroll
  for (u32 stage = 0; stage < stages; ++stage) {
    if (first + stage >= grid.count) break;
    Coordinates<map_rank> at = destination_box(grid, TileIndex<rank>(grid, first + stage));
    ptx::mbarrier::wait(arrived[stage], 0);
#pragma unroll 1
    for (u32 p = 0; p < parts; ++p, at.at[0] += box.part) {
      ptx::tensor_store(destination, at, tiles + (stage * parts + p) * box.part_bytes);
    }
  }
  ptx::commit_group();
  ptx::wait_group_read<0>();  // shared memory is given up; the writes complete with the grid
}

}  // namespace tmajit
