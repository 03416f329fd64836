// rows: moves a tensor between two views that share their contiguous dimension, the last.
//
//   source --`turns` vectors of 16 bytes of a thread--> registers --> destination, all loads before all stores
//
// A CTA moves one tile, a box over all dimensions.
//@ # Facts of the kernel: rank, element_bytes, tile_index, turns, Offset, Edges. Where no row is cut, an element is
//@ # a whole vector: element_bytes is 16.
#include "tmajit/global.cuh"
#include "tmajit/tile_pair.cuh"
#include "tmajit/tile_sides.cuh"
#include "tmajit/vector16.cuh"

namespace tmajit {

constexpr u32 vector = 16 / element_bytes;

// These policies move a vector. `remaining` is the number of elements from the vector's first to the end of its row; the vector
// has none if it is zero or negative.

// No edge cuts a vector.
struct WholeVectors {
  static __device__ __forceinline__ void load(Vector16& value, const u8* from, i32 remaining) {
    ptx::load_vector16_if(remaining > 0, value.word, from);
  }
  static __device__ __forceinline__ void store(u8* to, const Vector16& value, i32 remaining) {
    ptx::store_vector16_if(remaining > 0, to, value.word);
  }
};
// The end of a row may cut a vector.
struct CutVectors {
  static __device__ __forceinline__ void load(Vector16& value, const u8* from, i32 remaining) {
    if (remaining >= static_cast<i32>(vector)) {
      value = load16(from);
    } else if (remaining > 0) {
      value = load_part<element_bytes>(from, remaining);
    }
  }
  static __device__ __forceinline__ void store(u8* to, const Vector16& value, i32 remaining) {
    if (remaining >= static_cast<i32>(vector)) {
      store16(to, value);
    } else if (remaining > 0) {
      store_part<element_bytes>(to, value, remaining);
    }
  }
};

__device__ __forceinline__ void move_rows(const params::ViewPair<rank>& views, u64 sides) {
  u32 at[rank];
  tile_index(views.tiles, blockIdx.x, at);
  const TilePair<rank> tile(views, tile_box<rank, vector>(sides), at);
  Vector16 value[turns];
  u8* to[turns];
  i32 remaining[turns];  // elements of the row from the vector's first on
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
    remaining[turn] = exists ? tile.inside[rank - 1] - static_cast<i32>(index[rank - 1]) : 0;
    Edges::load(value[turn], tile.source + from, remaining[turn]);
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) Edges::store(to[turn], value[turn], remaining[turn]);
}

}  // namespace tmajit
