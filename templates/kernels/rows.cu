// rows: moves a tensor between two views that share their contiguous dimension, the last.
//
// A CTA does one tile, a box over all dimensions; a thread moves 16 bytes at a time, all its loads before its
// stores.
//@ # Facts of the kernel: rank, element_bytes, tile_index, turns, Offset. Where no row is cut, elements are vectors.
#include "tmajit/global.cuh"
#include "tmajit/tile_pair.cuh"
#include "tmajit/tile_sides.cuh"
#include "tmajit/vector16.cuh"

namespace tmajit {

constexpr u32 vector = 16 / element_bytes;

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

__device__ __forceinline__ void move_rows(const params::ViewPair<rank>& views, u64 sides) {
  u32 at[rank];
  tile_index(views.tiles, blockIdx.x, at);
  const TilePair<rank> tile(views, tile_box<rank, vector>(sides), at);
  Vector16 value[turns];
  u8* to[turns];
  i32 count[turns];  // elements of the vector that exist
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    u32 index[rank];
    bool exists = part_index(sides, turn * blockDim.x + threadIdx.x, index);
    index[rank - 1] *= vector;
    Offset from = 0;
    Offset offset = 0;
//@ each d
    from += static_cast<Offset>(index[d]) * static_cast<Offset>(d == rank - 1 ? element_bytes : views.source_step[d]);
    offset += static_cast<Offset>(index[d]) * static_cast<Offset>(d == rank - 1 ? element_bytes : views.destination_step[d]);
    exists = exists && static_cast<i32>(index[d]) < tile.inside[d];
//@ end
    to[turn] = tile.destination + offset;
    count[turn] = exists ? tile.inside[rank - 1] - static_cast<i32>(index[rank - 1]) : 0;
//@ if cut
    if (is_all(count[turn])) {
      value[turn] = load16(tile.source + from);
    } else if (count[turn] > 0) {
      value[turn] = load_part<element_bytes>(tile.source + from, count[turn]);
    }
//@ else
    ptx::load_vector16_if(is_all(count[turn]), value[turn].word, tile.source + from);
//@ end
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
//@ if cut
    if (is_all(count[turn])) {
      store16(to[turn], value[turn]);
    } else if (count[turn] > 0) {
      store_part<element_bytes>(to[turn], value[turn], count[turn]);
    }
//@ else
    ptx::store_vector16_if(is_all(count[turn]), to[turn], value[turn].word);
//@ end
  }
}

}  // namespace tmajit
