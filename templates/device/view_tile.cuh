// The tile of a destination and its sources that a CTA computes.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/types.cuh"
#include "tmajit/views.cuh"

namespace tmajit {

// A tile, by default the CTA's; tiles are numbered in the order of the destination.
template <u32 rank>
struct Tile {
  u64 origin[rank];
  i32 inside[rank];  // elements of the tile inside the views; 0 or negative if it has none

  __device__ __forceinline__ Tile(const params::ViewsHead<rank>& views, const Extent<rank>& box, u32 tile = blockIdx.x) {
//@ each d down
    enter(d == 0 ? tile : take(views.tiles[d], tile), box.at[d], views.extent[d], origin[d], inside[d]);
//@ end
  }

  // The address of the tile's first element in a view.
  __device__ __forceinline__ u8* in(const params::View<rank>& view) const {
    u8* at = view.first;
//@ each d
    at += static_cast<i64>(origin[d]) * view.step[d];
//@ end
    return at;
  }

 private:
  __device__ __forceinline__ static void enter(u32 index, u32 side, u64 extent, u64& first, i32& inside_extent) {
    first = static_cast<u64>(index) * side;
    const i64 left = static_cast<i64>(extent - first);
    inside_extent = static_cast<i32>(left < side ? left : side);
  }
};

}  // namespace tmajit
