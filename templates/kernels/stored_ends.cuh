// The ends of a tile's rows, which threads store from its results in shared memory.
#pragma once
#include "tmajit/elementwise.cuh"
#include "tmajit/row_tail.cuh"

namespace tmajit {

__device__ __forceinline__ void store_ends(const params::RowTail<rank>& tail, const TileWalk<rank, tiles_per_cta>& tile_at,
                                           const u8* results) {
  constexpr u32 columns = tile().at[rank - 1];
  if (!threads_store(tail, tile_at.at[rank - 1] * columns, columns)) return;
  store_tail<Output::Element>(tail, tile_at, tile(), results, Output::placement(), threadIdx.x, compute_threads);
}

}  // namespace tmajit
