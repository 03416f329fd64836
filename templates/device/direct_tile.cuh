// The part of a destination that a tile of it is, where threads store it.
#pragma once
#include "tmajit/direct_view.cuh"
#include "tmajit/types.cuh"

namespace tmajit {

template <u32 rank>
struct DirectTile {
  u8* origin;
  i32 inside[rank];  // elements of the tile that exist in each dimension; 0 or less where none does

  // The one that is the at[d]-th in each dimension, of tiles of `box` elements.
  __device__ __forceinline__ DirectTile(const params::DirectView<rank>& destination, const Extent<rank>& box,
                                        const u32 (&at)[rank])
      : origin(destination.first) {
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      const i64 first = static_cast<i64>(at[d]) * box.at[d];
      const i64 left = static_cast<i64>(destination.extent[d]) - first;
      inside[d] = static_cast<i32>(left < box.at[d] ? left : box.at[d]);
      origin += first * destination.step[d];
    }
  }
};

}  // namespace tmajit
