// rows: moves a tensor between two views that share their contiguous dimension, the last.
//
// A CTA does one tile, a box over all dimensions; a thread moves 16 bytes at a time, all its loads before its
// stores. Facts of the kernel, from its prelude: rank, element_bytes, box, threads.
#include "tmajit/vector16.cuh"
#include "tmajit/view_pair.cuh"

namespace tmajit {

constexpr u32 vector = 16 / element_bytes;

__device__ constexpr u32 vectors(u32 d) {
  return box().at[d] / (d == rank - 1 ? vector : 1);
}
__device__ constexpr u32 vectors_in_tile() {
  u32 count = 1;
  for (u32 d = 0; d < rank; ++d) count *= vectors(d);
  return count;
}
constexpr u32 turns = (vectors_in_tile() + threads - 1) / threads;

__device__ __forceinline__ void move_rows(const ViewPair<rank>& views) {
  const TilePair<rank> tile(views, box());
  Vector16 value[turns];
  u8* to[turns];
  u32 count[turns];  // elements of the vector that exist
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    u32 rest = turn * threads + threadIdx.x;
    bool exists = rest < vectors_in_tile();
    const u8* from = tile.source;
    to[turn] = tile.destination;
    count[turn] = 0;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u32 at = rest % vectors(d) * (d == rank - 1 ? vector : 1);
      rest /= vectors(d);
      from += at * views.source_step[d];
      to[turn] += at * views.destination_step[d];
      exists = exists && static_cast<i32>(at) < tile.inside[d];
      if (d == rank - 1) count[turn] = exists ? tile.inside[d] - at : 0;
    }
    if (!exists) count[turn] = 0;
    if (count[turn] >= vector) {
      value[turn] = load16(from);
    } else if (count[turn] > 0) {
      value[turn] = load_part<element_bytes>(from, count[turn]);
    }
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    if (count[turn] >= vector) {
      store16(to[turn], value[turn]);
    } else if (count[turn] > 0) {
      store_part<element_bytes>(to[turn], value[turn], count[turn]);
    }
  }
}

}  // namespace tmajit
