// Which tile of the views that the copy engine moves a number is.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/engine_grid.cuh"

namespace tmajit {

// The indices of tile `number` in each dimension; tiles are numbered in the order of the destination.
template <u32 rank>
struct TileIndex {
  u32 at[rank];

  __device__ __forceinline__ TileIndex(const params::EngineGrid<rank>& grid, u32 number) {
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u32 outer = d == 0 ? 0 : quotient(grid.tiles[d], number);
      at[d] = number - outer * grid.tiles[d].divisor;
      number = outer;
    }
  }
};

}  // namespace tmajit
