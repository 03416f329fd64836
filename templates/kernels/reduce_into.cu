// reduce_into: combines every tile of one tensor with another tensor's elements, through shared memory.
//
//   source --copy engine--> ring of `stages` --mbarrier of the stage--> copy engine combines --> destination
//
// A CTA has one warp. Each stage is combined as soon as its mbarrier says that its tile has arrived, and is loaded again once
// the engine has read it. The copy engine does both loads and reductions, so no fence is needed. Threads touch the data only
// where a row ends within 16 bytes (row_tail.cuh).
#include "tmajit/bulk_tensor_reduce.cuh"
#include "tmajit/forward.cuh"
//@ if row_tail
#include "tmajit/global_reduce.cuh"
#include "tmajit/half_extreme.cuh"
#include "tmajit/row_tail.cuh"
//@ end

namespace tmajit {

__device__ __forceinline__ void combine_tiles(const TensorMap& destination, const TensorMap& source,
                                              const params::TileGrid<rank>& grid) {
  const u32 base = ptx::shared_address(aligned_shared_memory());
  forward_tiles(grid, base, source, [&](const TileWalk<rank, tiles_per_cta>& tile_at, u32 stage) {
    if (threadIdx.x == 0) combine_box(destination, tile_at.origin(tile()), base + stage);
  });
}

__device__ __forceinline__ void combine_tiles_and_ends(const TensorMap& destination, const TensorMap& source,
                                                       const params::TileGrid<rank>& grid, const params::RowTail<rank>& tail) {
  constexpr u32 columns = tile().at[rank - 1];
  u8* shared = aligned_shared_memory();
  const u32 base = ptx::shared_address(shared);
  forward_tiles(grid, base, source, [&](const TileWalk<rank, tiles_per_cta>& tile_at, u32 stage) {
    const u32 column = tile_at.at[rank - 1] * columns;
    if (threads_store(tail, column, columns)) {
      put_tail<Element>(tail, tile_at, tile(), shared + stage, input(), threadIdx.x, 32,
                        [](Element* to, Element value) { combine_element(to, value); });
      // The reads must be over before the stage is loaded again.
      ptx::fence_proxy_async_shared();
      __syncwarp();
    }
    if (threadIdx.x == 0 && engine_stores(tail, column)) combine_box(destination, tile_at.origin(tile()), base + stage);
  });
}

}  // namespace tmajit
