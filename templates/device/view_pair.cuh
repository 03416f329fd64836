// Two views of one shape, and the tile of them that a CTA moves.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

// Dimensions in the order of the destination's strides, the largest first.
template <u32 rank>
struct ViewPair {
  const u8* source;
  u8* destination;
  i64 source_step[rank];  // bytes from one index to the next
  i64 destination_step[rank];
  u64 extent[rank];
  u32 tiles[rank];
};

// Where a CTA's tile begins, how much of it lies inside, and its first element in both views. CTAs take tiles
// in the order of the destination.
template <u32 rank>
struct TilePair {
  const u8* source;
  u8* destination;
  u32 inside[rank];  // elements of the tile that exist

  __device__ __forceinline__ TilePair(const ViewPair<rank>& views, const Extent<rank>& box)
      : source(views.source), destination(views.destination) {
    u32 tile = blockIdx.x;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u32 index = d == 0 ? tile : tile % views.tiles[d];
      tile /= views.tiles[d];
      const u64 first = static_cast<u64>(index) * box.at[d];
      const u64 left = views.extent[d] - first;
      inside[d] = left < box.at[d] ? static_cast<u32>(left) : box.at[d];
      source += static_cast<i64>(first) * views.source_step[d];
      destination += static_cast<i64>(first) * views.destination_step[d];
    }
  }
};

}  // namespace tmajit
