// The tile of two views that a CTA moves.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/types.cuh"
#include "tmajit/view_pair.cuh"

namespace tmajit {

// The order in which CTAs take tiles: first `group` of dimension `grouped`, then groups and other dimensions, the
// last of them fastest.
template <u32 rank>
struct TileOrder {
  u32 dimension[rank];
  u32 grouped;
  u32 group;
};

// Where a CTA's tile begins, how much of it lies inside, and its first element in both views. Of a group that the
// views end in, the last tiles lie outside.
template <u32 rank>
struct TilePair {
  const u8* source;
  u8* destination;
  u64 origin;        // index of the tile's first element in the last dimension
  i32 inside[rank];  // elements of the tile that exist; of a staggered row's last tile all may lie before it

  __device__ __forceinline__ TilePair(const params::ViewPair<rank>& views, const Extent<rank>& box,
                                      const TileOrder<rank>& order)
      : source(views.source), destination(views.destination) {
    const u32 in_group = blockIdx.x % order.group;
    u32 tile = blockIdx.x / order.group;
#pragma unroll
    for (u32 k = rank; k-- > 0;) {
      const u32 d = order.dimension[k];
      const u32 outer = k == 0 ? 0 : quotient(views.tiles[d], tile);
      u32 index = tile - outer * views.tiles[d].divisor;
      if (d == order.grouped) index = index * order.group + in_group;
      tile = outer;
      const u64 first = static_cast<u64>(index) * box.at[d];
      if (d == rank - 1) origin = first;
      const i64 left = static_cast<i64>(views.extent[d] - first);
      inside[d] = static_cast<i32>(left < box.at[d] ? left : box.at[d]);
      source += static_cast<i64>(first) * views.source_step[d];
      destination += static_cast<i64>(first) * views.destination_step[d];
    }
  }
};

}  // namespace tmajit
