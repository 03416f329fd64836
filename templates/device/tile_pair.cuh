// The tile of two views that a CTA moves.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/types.cuh"
#include "tmajit/view_pair.cuh"

namespace tmajit {

// Where a CTA's tile begins, how much of it lies inside, and its first element in both views. Of a group that the
// views end in, the last tiles lie outside.
template <u32 rank>
struct TilePair {
  const u8* source;
  u8* destination;
  u64 origin;        // index of the tile's first element in the last dimension
  i32 inside[rank];  // elements of the tile that exist; of a staggered row's last tile all may lie before it

  // The tile of so many boxes in each dimension before it.
  __device__ __forceinline__ TilePair(const params::ViewPair<rank>& views, const Extent<rank>& box,
                                      const u32 (&index)[rank])
      : source(views.source), destination(views.destination) {
//@ each d
    enter(static_cast<u64>(index[d]) * box.at[d], box.at[d], views.extent[d], views.source_step[d], views.destination_step[d], inside[d]);
//@ end
  }

 private:
  // Goes to index `first` of a dimension, the last of them in the end.
  __device__ __forceinline__ void enter(u64 first, u32 side, u64 extent, i64 source_step, i64 destination_step,
                                        i32& exist) {
    const i64 left = static_cast<i64>(extent - first);
    exist = static_cast<i32>(left < side ? left : side);
    source += static_cast<i64>(first) * source_step;
    destination += static_cast<i64>(first) * destination_step;
    origin = first;
  }
};

}  // namespace tmajit
