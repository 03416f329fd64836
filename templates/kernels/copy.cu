// copy: every tile through shared memory, from one tensor map to another.
//
// One thread a CTA does it all: a ring of stages is filled by bulk tensor loads, each stage is stored as soon
// as its mbarrier says that it is whole, and is loaded again once that store has read it. No thread touches
// the data, so no proxy fence is needed: loads and stores are both the copy engine's.
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/forward.cuh"

namespace tmajit {

__device__ __forceinline__ void copy_tiles(const TensorMap& source, const TensorMap& destination,
                                           const TileGrid<rank>& grid) {
  const ptx::CachePolicy once = ptx::evict_first();
  forward_tiles(
      grid, aligned_shared_memory(), source,
      [&](const TileWalk<rank>& tile_at, u32 stage) {
        ptx::tensor_store(destination, tile_at.origin(tile()), stage, once);
      });
}

}  // namespace tmajit
