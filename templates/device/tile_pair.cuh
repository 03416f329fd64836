// The tile of two views that a CTA moves.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/types.cuh"
#include "tmajit/view_pair.cuh"

namespace tmajit {

// The beginning of a CTA's tile, the part of it inside the views, and its first element in both. The last tiles of a
// group may lie outside of the views.
template <u32 rank>
struct TilePair {
  const u8* source;
  u8* destination;
  u64 origin;        // index of the tile's first element in the last dimension
  i32 inside[rank];  // elements of the tile inside the views; 0 or negative if it has none

  // The tile with index `index`, counted in boxes, in each dimension.
  __device__ __forceinline__ TilePair(const params::ViewPair<rank>& views, const Extent<rank>& box,
                                      const u32 (&index)[rank])
      : source(views.source), destination(views.destination) {
//@ each d
    enter(static_cast<u64>(index[d]) * box.at[d], box.at[d], views.extent[d], views.source_step[d], views.destination_step[d], inside[d]);
//@ end
  }

 private:
  // Moves to index `first` of a dimension. The last call is for the last dimension; `origin` stores its index.
  __device__ __forceinline__ void enter(u64 first, u32 side, u64 extent, i64 source_step, i64 destination_step,
                                        i32& inside_extent) {
    const i64 left = static_cast<i64>(extent - first);
    inside_extent = static_cast<i32>(left < side ? left : side);
    source += static_cast<i64>(first) * source_step;
    destination += static_cast<i64>(first) * destination_step;
    origin = first;
  }
};

}  // namespace tmajit
