// direct_transpose: moves a tensor between two views whose contiguous dimensions differ, `row` the destination's
// and `column` the source's, through registers alone.
//
// A CTA moves one tile, a box over all dimensions. A thread loads a block, a vector along `column` of each of its
// lines, transposes it and stores a vector along `row` of each of its columns. Four neighbouring threads share a line
// and eight share a row: a warp loads and stores whole sectors. No barrier separates loads from stores, which is fast
// where a tensor is small. No edge cuts a block.
//@ # Facts of the kernel: rank, element_bytes, vector, row, column, box, tile_index, threads, Offset, blocks, block_index.
#include "tmajit/block_transpose.cuh"
#include "tmajit/tile_pair.cuh"

namespace tmajit {

__device__ __forceinline__ void transpose_directly(const params::ViewPair<rank>& views) {
  using Line = Vector<vector * element_bytes>;
  u32 at[rank];
  tile_index(views.tiles, blockIdx.x, at);
  const TilePair<rank> tile(views, box(), at);
#pragma unroll 1
  for (u32 n = threadIdx.x; n < blocks; n += threads) {
    u32 index[rank];
    block_index(n, index);
    Offset from = 0;
    Offset to = 0;
    bool exists = true;
//@ each d
    from += static_cast<Offset>(index[d]) * static_cast<Offset>(d == column ? element_bytes : views.source_step[d]);
    to += static_cast<Offset>(index[d]) * static_cast<Offset>(d == row ? element_bytes : views.destination_step[d]);
    exists = exists && static_cast<i32>(index[d]) < tile.inside[d];
//@ end
    if (!exists) continue;
    Block<element_bytes, vector * element_bytes> block;
    const u8* line = tile.source + from;
#pragma unroll
    for (u32 i = 0; i < vector; ++i, line += views.source_step[row]) {
      block.row[i] = *reinterpret_cast<const Line*>(line);
    }
    block = transpose(block);
    u8* stored = tile.destination + to;
#pragma unroll
    for (u32 j = 0; j < vector; ++j, stored += views.destination_step[column]) {
      *reinterpret_cast<Line*>(stored) = block.row[j];
    }
  }
}

}  // namespace tmajit
