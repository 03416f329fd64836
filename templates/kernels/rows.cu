// rows: moves a tensor between two views that share their contiguous dimension, the last.
//
// A CTA does one tile, a box over all dimensions; a thread moves 16 bytes at a time, all its loads before its
// stores.
//@ # Facts of the kernel: rank, element_bytes, box, tile_order, threads, Offset, vector_index.
#include "tmajit/vector16.cuh"
#include "tmajit/tile_pair.cuh"

namespace tmajit {

constexpr u32 vector = 16 / element_bytes;

__device__ constexpr u32 vectors_in_tile() {
  u32 count = 1;
  for (u32 d = 0; d < rank; ++d) count *= box().at[d];
  return count / vector;
}
constexpr u32 turns = (vectors_in_tile() + threads - 1) / threads;

//@ if cut
// Whether a vector of which `count` elements exist is there and not cut by an edge.
//@ else
// Whether a vector of which `count` elements exist is there; none is cut by an edge.
//@ end
__device__ __forceinline__ bool is_all(i32 count) {
//@ if cut
  return count >= static_cast<i32>(vector);
//@ else
  return count > 0;
//@ end
}

__device__ __forceinline__ void move_rows(const params::ViewPair<rank>& views) {
  const TilePair<rank> tile(views, box(), tile_order());
  Vector16 value[turns];
  u8* to[turns];
  i32 count[turns];  // elements of the vector that exist
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const u32 n = turn * threads + threadIdx.x;
    u32 index[rank];
    vector_index(n, index);
    index[rank - 1] *= vector;
    Offset from = 0;
    Offset offset = 0;
    bool exists = n < vectors_in_tile();
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      from += static_cast<Offset>(index[d]) * static_cast<Offset>(d == rank - 1 ? element_bytes : views.source_step[d]);
      offset +=
          static_cast<Offset>(index[d]) * static_cast<Offset>(d == rank - 1 ? element_bytes : views.destination_step[d]);
      exists = exists && static_cast<i32>(index[d]) < tile.inside[d];
    }
    to[turn] = tile.destination + offset;
    count[turn] = exists ? tile.inside[rank - 1] - static_cast<i32>(index[rank - 1]) : 0;
    if (is_all(count[turn])) {
      value[turn] = load16(tile.source + from);
//@ if cut
    } else if (count[turn] > 0) {
      value[turn] = load_part<element_bytes>(tile.source + from, count[turn]);
//@ end
    }
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    if (is_all(count[turn])) {
      store16(to[turn], value[turn]);
//@ if cut
    } else if (count[turn] > 0) {
      store_part<element_bytes>(to[turn], value[turn], count[turn]);
//@ end
    }
  }
}

}  // namespace tmajit
