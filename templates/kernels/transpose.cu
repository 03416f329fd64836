// transpose: moves a tensor between two views whose contiguous dimensions differ, `row` the destination's and
// `column` the source's. A CTA moves one tile, a box over all dimensions.
//
//   source --a thread loads a vector along `column` of each line of a block--> registers --transpose()-->
//     image of the tile in shared memory --all threads meet--> a vector along `row` at a time --> destination
//
// The image has the destination's order. Its swizzle avoids bank conflicts of stores to it and of loads from it.
//@ # Facts of the kernel: rank, element_bytes, vector, row, column, box, tile_index, Lines, Edges, before, source_alignment, swizzle,
//@ # threads, Offset, block_count, block_index, stored_vectors, vector_index, image_vectors, image_step.
#include "tmajit/block_transpose.cuh"
#include "tmajit/global.cuh"
#include "tmajit/permute.cuh"
#include "tmajit/raw.cuh"
#include "tmajit/shared.cuh"
#include "tmajit/tile_pair.cuh"

namespace tmajit {

constexpr u32 vector_bytes = vector * element_bytes;
constexpr u32 banks = 128 / vector_bytes;  // groups of banks of shared memory, each as wide as a vector
constexpr u32 column_step = image_step().at[column];
using Line = Vector<vector_bytes>;
using Element = Bits<element_bytes>::Type;

// Neighbouring blocks of a load are a multiple of all banks apart in the image; the swizzle by their column index puts
// them into different banks.
__device__ __forceinline__ u32 swizzled(u32 position, u32 column_index) {
  return position ^ (column_index / vector * swizzle % banks);
}
// The position of line j of a block whose line 0 is at `position`. Steps over all banks do not change the swizzle.
__device__ __forceinline__ u32 swizzled_line(u32 position, u32 j, u32 column_index) {
  if constexpr (column_step % banks == 0) return swizzled(position, column_index) + j * column_step;
  return swizzled(position + j * column_step, column_index);
}

// Returns `value` through a shuffle, so that the compiler does not recompute it at each use.
__device__ __forceinline__ i32 shuffled(i32 value) {
  return __shfl_sync(~0U, value, 0);
}

//@ each n from 8 to 16 by 8 if vector
// Lines of the source begin at multiples of their vectors, or of 8 or 4 bytes.
struct AlignedLines {
  static __device__ __forceinline__ void load(Line& line, const u8* from) { ptx::load_vector$n(line.word, from); }
};
struct LinesBy8 {
  static __device__ __forceinline__ void load(Line& line, const u8* from) { ptx::load_vector$n_by_8(line.word, from); }
};
struct LinesBy4 {
  static __device__ __forceinline__ void load(Line& line, const u8* from) { ptx::load_vector$n_by_4(line.word, from); }
};
// Lines begin anywhere: load() reads the words that hold one.
struct LinesAnywhere {
  static __device__ __forceinline__ void load(Line& line, const u8* from) { ptx::load_vector$n_anywhere(line.word, from); }
};
// The destination's elements may be interleaved with the source's: load() reads only the line.
struct OwnLines {
  static __device__ __forceinline__ void load(Line& line, const u8* from) { load_narrowly<source_alignment>(line.word, from); }
};

// Stores a vector at `position` of the image, which begins at the shared address `image_at`.
__device__ __forceinline__ void store_to_image(u32 image_at, u32 position, const Line& line) {
  ptx::store_shared$n(image_at + position * vector_bytes, line.word);
}
__device__ __forceinline__ Line load_from_image(u32 image_at, u32 position) {
  Line line;
  ptx::load_shared$n(line.word, image_at + position * vector_bytes);
  return line;
}
__device__ __forceinline__ void store_line(u8* to, const Line& line) {
  ptx::store_vector$n(to, line.word);
}

// The vector that begins `bytes` after the first byte of `low`.
__device__ __forceinline__ Line shifted(const Line& low, const Line& high, u32 bytes) {
  constexpr u32 words = vector_bytes / 4;
  u32 word[words + 1];
  ptx::words_of$n(word, low.word, high.word, bytes);
  Line result;
#pragma unroll
  for (u32 k = 0; k < words; ++k) {
    result.word[k] = element_bytes < 4 ? __funnelshift_r(word[k], word[k + 1], bytes % 4 * 8) : word[k];
  }
  return result;
}
//@ end

// ---- from the source to the image ----

// A block at an edge: where its lines begin, how many lines exist, and how many elements of each line exist. A policy's moved()
// returns false if vectors can load the block; otherwise it moves the block element by element and returns true.
struct CutBlock {
  const u8* from;
  Offset step;
  u32 lines;
  u32 count;
};

// Stores the existing part of a block to the image element by element: this is rare, and the loops compile fast. Lines that do not
// exist are clamped to the last.
__device__ __forceinline__ void move_end(Line* image, u32 position, u32 column_index, const CutBlock& own) {
#pragma unroll 1
  for (u32 i = 0; i < vector; ++i) {
    // A vector that ends before the block does is loaded with it.
#pragma unroll 1
    for (u32 j = 0; j < own.count; ++j) {
      reinterpret_cast<Element*>(&image[swizzled_line(position, j, column_index)])[i] =
          reinterpret_cast<const Element*>(own.from + static_cast<Offset>(least(i, own.lines - 1)) * own.step)[j];
    }
  }
}
// As move_end(), but all loads of a line are in flight at once: OwnEdges moves every block at an edge by it.
__device__ __noinline__ void move_own_end(Line* image, u32 position, u32 column_index, const u8* from, Offset step, u32 lines,
                                          u32 count) {
#pragma unroll 1
  for (u32 i = 0; i < vector; ++i) {
    // Elements that do not exist are clamped to the last.
    Element element[vector];
#pragma unroll
    for (u32 j = 0; j < vector; ++j) element[j] = reinterpret_cast<const Element*>(from)[least(j, count - 1)];
#pragma unroll
    for (u32 j = 0; j < vector; ++j) {
      reinterpret_cast<Element*>(&image[swizzled_line(position, j, column_index)])[i] = element[j];
    }
    if (i + 1 < lines) from += step;
  }
}

// Vectors at an edge also load the bytes next to it, which are not stored. A block is moved element by element only at the ends
// of the source's memory.
struct SharedEdges {
  static __device__ __forceinline__ bool moved(const params::ViewPair<rank>& views, Line* image, u32 position, u32 column_index,
                                               const CutBlock& own) {
    const Offset last = static_cast<Offset>(own.lines - 1) * own.step;
    const u8* high = own.from + (own.step > 0 ? last : 0);
    if (high + vector_bytes <= views.source_end) return false;
    move_end(image, position, column_index, own);
    return true;
  }
};
// As SharedEdges, where lines begin anywhere: all words of a line must be in the source.
__device__ __forceinline__ bool holds(const params::ViewPair<rank>& views, const u8* low, const u8* high) {
  return enclosing_word(low) >= views.source_begin && high + vector_bytes + 4 <= views.source_end;
}
struct WordEdges {
  static __device__ __forceinline__ bool moved(const params::ViewPair<rank>& views, Line* image, u32 position, u32 column_index,
                                               const CutBlock& own) {
    const Offset last = static_cast<Offset>(own.lines - 1) * own.step;
    if (holds(views, own.from + (own.step > 0 ? 0 : last), own.from + (own.step > 0 ? last : 0))) return false;
    move_end(image, position, column_index, own);
    return true;
  }
};
// Neighbouring bytes may be the destination's, which other CTAs write: each block at an edge is moved element by element.
struct OwnEdges {
  static __device__ __forceinline__ bool moved(const params::ViewPair<rank>&, Line* image, u32 position, u32 column_index,
                                               const CutBlock& own) {
    if (own.lines == vector && own.count == vector) return false;
    move_own_end(image, position, column_index, own.from, own.step, own.lines, own.count);
    return true;
  }
};

__device__ __forceinline__ void load_blocks(const params::ViewPair<rank>& views, const TilePair<rank>& tile,
                                            Line* image, u32 image_at) {
#pragma unroll 1
  for (u32 start = 0; start < block_count; start += threads) {
    const u32 n = start + threadIdx.x;
    if (block_count % threads != 0 && n >= block_count) return;
    u32 index[rank];
    block_index(n, index);
    i32 at[rank];
    Offset offset = 0;
    u32 position = 0;
    bool exists = true;
//@ each d
    at[d] = static_cast<i32>(index[d] * (d == row || d == column ? vector : 1));
    position += d == row ? index[d] : at[d] * image_step().at[d];
    if (d == row) at[d] -= before * vector;
    offset += static_cast<Offset>(at[d]) * static_cast<Offset>(d == column ? element_bytes : views.source_step[d]);
    exists = exists && at[d] < tile.inside[d];
//@ end
    exists = exists && (before == 0 || at[row] >= 0 || tile.origin > 0);
    if (!exists) continue;

    Block<element_bytes, vector_bytes> block;
    const u8* from = tile.source + offset;
    const Offset step = static_cast<Offset>(views.source_step[row]);
//@ if cut
    const CutBlock own{from, step, least(tile.inside[row] - at[row], vector), least(tile.inside[column] - at[column], vector)};
    if (Edges::moved(views, image, position, at[column], own)) continue;
#pragma unroll
    for (u32 i = 0; i < vector; ++i) Lines::load(block.row[i], from + static_cast<Offset>(least(i, own.lines - 1)) * step);
//@ else
#pragma unroll
    for (u32 i = 0; i < vector; ++i) Lines::load(block.row[i], from + static_cast<Offset>(i) * step);
//@ end
    block = transpose(block);
#pragma unroll
    for (u32 j = 0; j < vector; ++j) {
      store_to_image(image_at, swizzled_line(position, j, at[column]), block.row[j]);
    }
  }
}

// ---- from the image to the destination ----

// The vector that begins `past` bytes before the block at `position` + 1: the last `past` bytes of the block at `position`, then
// the first bytes of the block at `position` + 1.
__device__ __forceinline__ Line picked(u32 image_at, u32 position, u32 column_index, u32 past) {
  const Line line = load_from_image(image_at, swizzled(position + 1, column_index));
  const Line low = load_from_image(image_at, swizzled(past == 0 ? position + 1 : position, column_index));
  return shifted(low, line, (vector_bytes - past) % vector_bytes);
}

// Stores the elements [first, last) of the vector at `to` one by one: this is rare, and the loop compiles fast. The vector begins
// with element `from` of the row of the image that begins at `position`.
__device__ __forceinline__ void store_elements(u8* to, const Line* image, u32 position, u32 column_index, u32 from,
                                               u32 first, u32 last) {
  // Elements of one block, and from `split` on elements of the next.
  const u32 split = vector - from % vector;
  const u32 block = position + from / vector;
  const auto* low = reinterpret_cast<const Element*>(&image[swizzled(block, column_index)]) + from % vector;
  const auto* high = reinterpret_cast<const Element*>(&image[swizzled(block + 1, column_index)]) - split;
#pragma unroll 1
  for (u32 k = first; k < last; ++k) reinterpret_cast<Element*>(to)[k] = (k < split ? low : high)[k];
}

__device__ __forceinline__ void store_image(const params::ViewPair<rank>& views, const TilePair<rank>& tile,
                                            const Line* image, u32 image_at) {
//@ if staggered
  // The first offset in the tile that a vector may begin at: no vector begins before the tensor.
  const i32 lowest = tile.origin > 0 ? -static_cast<i32>(before * vector) : 0;
//@ end
  i32 inside[rank];
//@ each d
  inside[d] = shuffled(tile.inside[d]);
//@ end
#pragma unroll 1
  for (u32 start = 0; start < stored_vectors; start += threads) {
    const u32 n = start + threadIdx.x;
    if (stored_vectors % threads != 0 && n >= stored_vectors) return;
    u32 index[rank];
    vector_index(n, index);
    Offset offset = 0;
    u32 position = index[row];
    bool exists = true;
//@ each d
    position += d == row ? 0 : index[d] * image_step().at[d];
    offset += d == row ? 0 : static_cast<Offset>(index[d]) * static_cast<Offset>(views.destination_step[d]);
    exists = exists && (d == row || static_cast<i32>(index[d]) < inside[d]);
//@ end
    u8* to = tile.destination + offset;  // the row's first element in the tile
//@ if staggered
    // The image holds existing elements only.
    const u32 past = static_cast<u32>(reinterpret_cast<u64>(to)) % vector_bytes;  // bytes from a vector's boundary to the row
    to += static_cast<i32>(index[row] * vector_bytes) - static_cast<i32>(past);
    const i32 at = static_cast<i32>(index[row] * vector) - static_cast<i32>(past / element_bytes);
    const i32 left = inside[row] - at;
    if (!exists || left <= 0) continue;
    const u32 first = at < lowest ? -at : 0;
    const u32 last = least(left, vector);
    if (first == 0 && last == vector) {
      store_line(to, picked(image_at, position, index[column], past));
    } else {
      store_elements(to, image, position - index[row], index[column], at + before * vector, first, last);
    }
//@ else
    to += static_cast<i32>(index[row] * vector_bytes);
    const i32 left = inside[row] - static_cast<i32>(index[row] * vector);
    if (!exists || left <= 0) continue;
//@ if cut
    if (left >= static_cast<i32>(vector)) {
      store_line(to, load_from_image(image_at, swizzled(position, index[column])));
      continue;
    }
    store_elements(to, image, position, index[column], 0, 0, left);
//@ else
    store_line(to, load_from_image(image_at, swizzled(position, index[column])));
//@ end
//@ end
  }
}

__device__ __forceinline__ void transpose_tile(const params::ViewPair<rank>& views) {
  __shared__ Line image[image_vectors];
  u32 index[rank];
  tile_index(views.tiles, blockIdx.x, index);
  const TilePair<rank> tile(views, box(), index);
  const u32 image_at = shuffled(ptx::shared_address(image));
  load_blocks(views, tile, image, image_at);
  __syncthreads();
  store_image(views, tile, image, image_at);
}

}  // namespace tmajit
