// The ends of rows that a bulk tensor store cannot write.
//
// The copy engine stores whole 16-byte chunks: in a row that ends within one, it also writes what lies beyond
// the end. The output's tensor map therefore ends at the last whole chunk of a row, and threads store the
// few elements after it.
#pragma once
#include "tmajit/placement.cuh"
#include "tmajit/tile_walk.cuh"

namespace tmajit {

template <u32 rank>
struct RowTail {
  u64 address;        // of the output's first element
  u64 strides[rank];  // bytes, outermost first
  u32 extent[rank];   // elements, outermost first
  u32 begin;          // first column that the tensor map does not reach; extent[rank - 1] if it reaches all

  // Whether a tensor store has any of the tile that begins at `column` to write.
  __device__ __forceinline__ bool stores(u32 column) const { return column < begin; }

  // Whether threads have any of the tile of `columns` that begins at `column` to write.
  __device__ __forceinline__ bool reaches(u32 column, u32 columns) const {
    return begin < extent[rank - 1] && column + columns > begin;
  }

  // Stores the tile's part of the tail from its image in shared memory; `threads` threads call it together.
  template <class Element, class Walk>
  __device__ __forceinline__ void store(const Walk& tile_at, const Extent<rank>& tile, const u8* image,
                                        const Placement& placement, u32 thread, u32 threads) const {
    const u32 columns = tile.at[rank - 1];
    const u32 column = tile_at.at[rank - 1] * columns;
    const u32 first = begin > column ? begin - column : 0;
    const u32 left = extent[rank - 1] - column;
    const u32 count = (left < columns ? left : columns) - first;
    u32 rows = 1;
#pragma unroll
    for (u32 d = 0; d + 1 < rank; ++d) rows *= tile.at[d];

    for (u32 i = thread; i < rows * count; i += threads) {
      const u32 row = i / count;
      const u32 in_tile = first + i % count;
      u64 target = address + static_cast<u64>(column + in_tile) * sizeof(Element);
      bool inside = true;
      u32 outer = row;
#pragma unroll
      for (u32 d = rank - 1; d-- > 0;) {
        const u32 at = tile_at.at[d] * tile.at[d] + outer % tile.at[d];
        outer /= tile.at[d];
        inside = inside && at < extent[d];
        target += at * strides[d];
      }
      if (inside) {
        *reinterpret_cast<Element*>(target) =
            *reinterpret_cast<const Element*>(image + placement.at(row, in_tile * sizeof(Element)));
      }
    }
  }
};

}  // namespace tmajit
