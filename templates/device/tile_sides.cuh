// Tiles whose sides are powers of two, known at the launch. Byte d of `sides` is log2 of the side in dimension d: in elements,
// or along the last dimension in parts, runs of elements that a thread moves at once.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

__device__ __forceinline__ u32 side_log(u64 sides, u32 d) {
  return static_cast<u32>(sides >> 8 * d) & 255;
}

// The tile's box in elements. A part has `part` elements.
template <u32 rank, u32 part>
__device__ __forceinline__ Extent<rank> tile_box(u64 sides) {
  Extent<rank> box;
//@ each d
  box.at[d] = (d == rank - 1 ? part : 1) << side_log(sides, d);
//@ end
  return box;
}

// Sets `index` to the index of part n; the last dimension varies fastest. Returns false if the tile has no such part.
template <u32 rank>
__device__ __forceinline__ bool part_index(u64 sides, u32 n, u32 (&index)[rank]) {
//@ each d down
  index[d] = d == 0 ? n : n & (1U << side_log(sides, d)) - 1;
  n >>= side_log(sides, d);
//@ end
  return n == 0;
}

}  // namespace tmajit
