// The tiles of two views that the copy engine moves: which of them a CTA does, and where they begin.
#pragma once
#include "tmajit/divider.cuh"
#include "tmajit/types.cuh"

namespace tmajit {

template <u32 rank>
struct EngineGrid {
  Divider tiles[rank];  // in each dimension of the views, outermost first
  u32 count;            // of all of them
  // Views have more dimensions than the five of a tensor map. Those in which a tile has one index then share
  // the map's outermost dimension: what each counts there.
  i32 source_fold[rank];
  i32 destination_fold[rank];
};

// The indices of tile `number` in each dimension; tiles are numbered in the order of the destination.
template <u32 rank>
struct TileIndex {
  u32 at[rank];

  __device__ __forceinline__ TileIndex(const EngineGrid<rank>& grid, u32 number) {
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u32 outer = d == 0 ? 0 : grid.tiles[d].quotient(number);
      at[d] = number - outer * grid.tiles[d].divisor;
      number = outer;
    }
  }
};

// The destination, where threads store to it.
template <u32 rank>
struct DirectView {
  u8* first;       // the element with all indices 0
  i64 step[rank];  // bytes from one index to the next
  u64 extent[rank];
};

}  // namespace tmajit
