// copy: moves every tile through shared memory, from one tensor map to another.
//
//   source --copy engine--> ring of `stages` --mbarrier of the stage--> copy engine --> destination
//
// A CTA has one warp. Each stage is stored as soon as its mbarrier says that its tile has arrived, and is loaded again once that
// store has read it. The copy engine does both loads and stores, so no fence is needed. Threads touch the data only where a
// row ends within 16 bytes (row_tail.cuh).
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/forward.cuh"
//@ if row_tail
#include "tmajit/row_tail.cuh"
//@ end

namespace tmajit {

__device__ __forceinline__ void copy_tiles(const TensorMap& destination, const TensorMap& source,
                                           const params::TileGrid<rank>& grid) {
  const u32 base = ptx::shared_address(aligned_shared_memory());
  forward_tiles(grid, base, source, [&](const TileWalk<rank, tiles_per_cta>& tile_at, u32 stage) {
    if (threadIdx.x == 0) ptx::tensor_store(destination, tile_at.origin(tile()), base + stage);
  });
}

__device__ __forceinline__ void copy_tiles_and_ends(const TensorMap& destination, const TensorMap& source,
                                                    const params::TileGrid<rank>& grid, const params::RowTail<rank>& tail) {
  constexpr u32 columns = tile().at[rank - 1];
  u8* shared = aligned_shared_memory();
  const u32 base = ptx::shared_address(shared);
  forward_tiles(grid, base, source, [&](const TileWalk<rank, tiles_per_cta>& tile_at, u32 stage) {
    const u32 column = tile_at.at[rank - 1] * columns;
    if (threads_store(tail, column, columns)) {
      store_tail<Element>(tail, tile_at, tile(), shared + stage, input(), threadIdx.x, 32);
      // The reads must be over before the stage is loaded again.
      ptx::fence_proxy_async_shared();
      __syncwarp();
    }
    if (threadIdx.x == 0 && engine_stores(tail, column)) {
      ptx::tensor_store(destination, tile_at.origin(tile()), base + stage);
    }
  });
}

}  // namespace tmajit
