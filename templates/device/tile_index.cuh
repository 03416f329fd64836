// The index of a tile from its number, in a grid of tiles that the copy engine loads.
#pragma once
#include "tmajit/division.cuh"

namespace tmajit {

// The indices of tile `number` in each dimension; tiles are numbered in the order of the destination.
template <u32 rank>
struct TileIndex {
  u32 at[rank];

  template <class Grid>
  __device__ __forceinline__ TileIndex(const Grid& grid, u32 number) {
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u32 outer = d == 0 ? 0 : quotient(grid.tiles[d], number);
      at[d] = number - outer * grid.tiles[d].divisor;
      number = outer;
    }
  }
};

}  // namespace tmajit
