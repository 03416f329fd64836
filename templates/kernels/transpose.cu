// transpose: moves a tensor between two views whose contiguous dimensions differ, `row` the destination's and
// `column` the source's.
//
// A CTA does one tile, a box over all dimensions. A thread loads a block of elements by 16-byte loads along
// `column`, transposes it in registers, and puts it into an image of the tile in the destination's order in
// shared memory. Then the threads store that image, 16 bytes along `row` at a time. The image is swizzled
// so that neither way meets a bank twice.
//
// Facts of the kernel, from its prelude: rank, element_bytes, row, column, box, source_order, threads.
#include "tmajit/block_transpose.cuh"
#include "tmajit/view_pair.cuh"

namespace tmajit {

constexpr u32 vector = 16 / element_bytes;

// Blocks, or for other dimensions than `row` and `column` elements, of the tile in dimension d.
__device__ constexpr u32 blocks(u32 d) {
  return box().at[d] / (d == row || d == column ? vector : 1);
}
__device__ constexpr u32 block_count() {
  u32 count = 1;
  for (u32 d = 0; d < rank; ++d) count *= blocks(d);
  return count;
}
// Vectors of the image from one index of dimension d to the next.
__device__ constexpr u32 image_step(u32 d) {
  u32 step = 1;
  for (u32 k = d + 1; k < rank; ++k) step *= k == row ? blocks(k) : box().at[k];
  return step;
}
constexpr u32 image_vectors = block_count() * vector;

// Neighbouring blocks of a load are a multiple of eight vectors apart in the image; the index of their
// column keeps them off each other's banks.
__device__ __forceinline__ u32 swizzled(u32 position, u32 column_index) {
  constexpr bool distinct = vector * image_step(column) % 8 == 0;
  return distinct ? position ^ (column_index / vector % 8) : position;
}

// What exists of a block at the tile's edge. Its lines wait in local memory: this is rare, and short to
// compile.
__device__ __noinline__ void load_edge(Vector16 (&line)[vector], const u8* from, i64 step, u32 lines, u32 count) {
#pragma unroll 1
  for (u32 i = 0; i < vector; ++i, from += step) {
    line[i] = i >= lines ? Vector16{} : count >= vector ? load16(from) : load_part<element_bytes>(from, count);
  }
}

__device__ __forceinline__ void load_blocks(const ViewPair<rank>& views, const TilePair<rank>& tile,
                                            Vector16* image) {
#pragma unroll
  for (u32 first = 0; first < block_count(); first += threads) {
    const u32 n = first + threadIdx.x;
    if (block_count() % threads != 0 && n >= block_count()) return;
    u32 at[rank];
    u32 rest = n;
    const u8* from = tile.source;
    u32 position = 0;
    bool exists = true;
#pragma unroll
    for (u32 k = rank; k-- > 0;) {
      const u32 d = source_order().at[k];
      at[d] = rest % blocks(d) * (d == row || d == column ? vector : 1);
      rest /= blocks(d);
      from += at[d] * views.source_step[d];
      position += d == row ? at[d] / vector : at[d] * image_step(d);
      exists = exists && at[d] < tile.inside[d];
    }
    if (!exists) continue;

    Block<vector> block;
    if (at[row] + vector <= tile.inside[row] && at[column] + vector <= tile.inside[column]) {
#pragma unroll
      for (u32 i = 0; i < vector; ++i) block.row[i] = load16(from + i * views.source_step[row]);
    } else {
      Vector16 line[vector];
      load_edge(line, from, views.source_step[row], tile.inside[row] - at[row], tile.inside[column] - at[column]);
#pragma unroll
      for (u32 i = 0; i < vector; ++i) block.row[i] = line[i];
    }
    block = transpose(block);
#pragma unroll
    for (u32 j = 0; j < vector; ++j)
      image[swizzled(position + j * image_step(column), at[column])] = block.row[j];
  }
}

__device__ __forceinline__ void store_image(const ViewPair<rank>& views, const TilePair<rank>& tile,
                                            const Vector16* image) {
#pragma unroll 4
  for (u32 first = 0; first < image_vectors; first += threads) {
    const u32 n = first + threadIdx.x;
    if (image_vectors % threads != 0 && n >= image_vectors) return;
    u32 at[rank];
    u32 rest = n;
    u8* to = tile.destination;
    bool exists = true;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u32 count = d == row ? blocks(d) : box().at[d];
      at[d] = rest % count * (d == row ? vector : 1);
      rest /= count;
      to += at[d] * views.destination_step[d];
      exists = exists && at[d] < tile.inside[d];
    }
    if (!exists) continue;
    const Vector16 value = image[swizzled(n, at[column])];
    if (at[row] + vector <= tile.inside[row]) {
      store16(to, value);
    } else {
      store_part<element_bytes>(to, value, tile.inside[row] - at[row]);
    }
  }
}

__device__ __forceinline__ void transpose_tile(const ViewPair<rank>& views) {
  __shared__ Vector16 image[image_vectors];
  const TilePair<rank> tile(views, box());
  load_blocks(views, tile, image);
  __syncthreads();
  store_image(views, tile, image);
}

}  // namespace tmajit
