// The chunks of a tile whose sides are known at the launch.
#pragma once
#include "tmajit/chunks.cuh"
#include "tmajit/tile_sides.cuh"

namespace tmajit {

__device__ __forceinline__ Chunk locate(const params::ViewsHead<rank>& views, u64 sides, const Tile<rank>& tile, u8* destination,
                                        u32 n) {
  u32 index[rank];
  const bool exists = part_index(sides, n, index);
  return chunk_at(views, tile, destination, index, exists);
}

}  // namespace tmajit
