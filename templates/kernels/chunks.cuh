// Chunks of a destination's row, one for each thread: position, existing elements, and how a thread stores it.
//@ # Facts: rank, Offset, chunk, cut, Stores, Destination; where evaluate() reads g, Coordinate, coordinates, dimension_of, backwards.
#pragma once
#include "tmajit/values.cuh"
#include "tmajit/view_tile.cuh"

namespace tmajit {

constexpr u32 row = rank - 1;

using Result = Raw<sizeof(Destination::Element), chunk>;

// A thread's chunk: the index of its first element in the tile, its address in the destination, and its existing elements
// [first, last). If rows begin between boundaries of chunks (`staggered`), it may begin before the tile.
struct Chunk {
  i32 at[rank];
  u8* to;
  u32 first;
  u32 last;

  __device__ __forceinline__ bool whole() const { return first == 0 && last == chunk; }
  // The chunk's address in a view whose row has elements `step` bytes apart; `tile` is the tile's address.
  __device__ __forceinline__ const u8* in(const params::View<rank>& view, const u8* tile, i64 step) const {
    Offset offset = 0;
//@ each d
    offset += static_cast<Offset>(at[d]) * static_cast<Offset>(d == row ? step : view.step[d]);
//@ end
    return tile + offset;
  }
};

// A row's elements are neighbours in memory, and no edge cuts a chunk.
struct WholeChunks {
  static __device__ __forceinline__ i64 step(const params::View<rank>&) { return i64{sizeof(Destination::Element)}; }
  static __device__ __forceinline__ void store(const params::View<rank>&, const Chunk& own, const Result& result) {
    store_raw<Destination::alignment>(own.to, result);
  }
};
// An edge may cut a chunk. A row of one element is contiguous, whatever its step.
struct CutChunks {
  static __device__ __forceinline__ i64 step(const params::View<rank>&) { return i64{sizeof(Destination::Element)}; }
  static __device__ __forceinline__ void store(const params::View<rank>&, const Chunk& own, const Result& result) {
    if (own.whole()) {
      store_raw<Destination::alignment>(own.to, result);
    } else if constexpr (Destination::alignment % 4 == 0 && Result::bytes % 4 == 0) {
      store_next(own.to, result, own.first, own.last);
    } else {
      store_some(own.to, i64{sizeof(Destination::Element)}, result, own.first, own.last);
    }
  }
};
// A row's elements are strided.
struct StridedChunks {
  static __device__ __forceinline__ i64 step(const params::View<rank>& view) { return view.step[row]; }
  static __device__ __forceinline__ void store(const params::View<rank>& view, const Chunk& own, const Result& result) {
    store_some(own.to, view.step[row], result, own.first, own.last);
  }
};

// The index of element k of a chunk in each dimension of the user's destination.
__device__ __forceinline__ void locate_element(Coordinate (&g)[coordinates], const params::ViewsHead<rank>& views, const Tile<rank>& tile,
                                               const Chunk& own, u32 k) {
#pragma unroll
  for (u32 c = 0; c < coordinates; ++c) {
    const u32 d = dimension_of().at[c];
    if (d == rank) {
      g[c] = 0;  // an extent of 1
    } else {
      const u64 at = tile.origin[d] + own.at[d] + (d == row ? k : 0);
      g[c] = static_cast<Coordinate>(backwards().at[c] != 0 ? views.extent[d] - 1 - at : at);
    }
  }
}

__device__ __forceinline__ Chunk chunk_at(const params::ViewsHead<rank>& views, const Tile<rank>& tile, u8* destination,
                                          const u32 (&index)[rank], bool exists) {
  Chunk own;
  Offset offset = 0;
//@ each d
  own.at[d] = static_cast<i32>(d == row ? index[d] * chunk : index[d]);
  exists = exists && (d == row || own.at[d] < tile.inside[d]);
  offset += d == row ? 0 : static_cast<Offset>(own.at[d]) * static_cast<Offset>(views.destination.step[d]);
//@ end
  own.to = destination + offset;
  own.first = 0;
//@ if staggered
  constexpr u32 element_bytes = sizeof(Destination::Element);
  const u32 address = static_cast<u32>(reinterpret_cast<u64>(own.to));
  own.at[row] -= address % (chunk * element_bytes) / element_bytes;  // back to a boundary of the destination's memory
  if (own.at[row] < 0 && tile.origin[row] == 0) own.first = -own.at[row];
//@ end
  own.to += static_cast<Offset>(own.at[row]) * static_cast<Offset>(Stores::step(views.destination));
  const i32 left = tile.inside[row] - own.at[row];
  own.last = exists && left > 0 ? (cut ? least(left, chunk) : chunk) : 0;
  return own;
}

}  // namespace tmajit
