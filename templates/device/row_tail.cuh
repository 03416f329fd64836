// The ends of rows that the copy engine cannot write: it stores whole chunks of 16 bytes.
//@ # In a row that ends within a chunk, it would also write bytes beyond the end. The destination's tensor map therefore
//@ # ends at the last whole chunk of a row, and threads store the few elements after it.
#pragma once
#include "tmajit/placement.cuh"
#include "tmajit/tile_walk.cuh"

namespace tmajit {

// Whether a tensor store writes any of the tile that begins at `column`.
template <u32 rank>
__device__ __forceinline__ bool engine_stores(const params::RowTail<rank>& tail, u32 column) {
  return column < tail.begin;
}

// Whether threads write any of the tile of `columns` columns that begins at `column`.
template <u32 rank>
__device__ __forceinline__ bool threads_store(const params::RowTail<rank>& tail, u32 column, u32 columns) {
  return tail.begin < tail.extent[rank - 1] && column + columns > tail.begin;
}

// Calls put(destination, element) for each element of the tile that belongs to the tail. It reads the elements from the tile's
// image in shared memory. `threads` threads call it together.
template <class Element, u32 rank, class Walk, class Put>
__device__ __forceinline__ void put_tail(const params::RowTail<rank>& tail, const Walk& tile_at,
                                         const Extent<rank>& tile, const u8* image, const Placement& placement,
                                         u32 thread, u32 threads, Put put) {
  const u32 columns = tile.at[rank - 1];
  const u32 column = tile_at.at[rank - 1] * columns;
  const u32 first = tail.begin > column ? tail.begin - column : 0;
  const u32 left = tail.extent[rank - 1] - column;
  const u32 count = (left < columns ? left : columns) - first;
  u32 rows = 1;
#pragma unroll
  for (u32 d = 0; d + 1 < rank; ++d) rows *= tile.at[d];

  for (u32 i = thread; i < rows * count; i += threads) {
    const u32 row = i / count;
    const u32 in_tile = first + i % count;
    u64 target = tail.address + static_cast<u64>(column + in_tile) * sizeof(Element);
    bool inside = true;
    u32 outer = row;
#pragma unroll
    for (u32 d = rank - 1; d-- > 0;) {
      const u32 at = tile_at.at[d] * tile.at[d] + outer % tile.at[d];
      outer /= tile.at[d];
      inside = inside && at < tail.extent[d];
      target += at * tail.strides[d];
    }
    if (inside) {
      put(reinterpret_cast<Element*>(target),
          *reinterpret_cast<const Element*>(image + placement.at(row, in_tile * sizeof(Element))));
    }
  }
}

// Stores the tile's part of the tail.
template <class Element, u32 rank, class Walk>
__device__ __forceinline__ void store_tail(const params::RowTail<rank>& tail, const Walk& tile_at,
                                           const Extent<rank>& tile, const u8* image, const Placement& placement,
                                           u32 thread, u32 threads) {
  put_tail<Element>(tail, tile_at, tile, image, placement, thread, threads,
                    [](Element* to, Element value) { *to = value; });
}

}  // namespace tmajit
