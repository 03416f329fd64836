// weave: moves bits between views that are contiguous in different dimensions, several of which may make up either side
// of a tile.
//
// A CTA does some tiles, one after the other; a tile is a box over all dimensions. What it reads comes to an image in
// shared memory by whole lines of the source's memory, 16 bytes at a time. A thread takes a block from the image, some
// columns of a word's worth of lines, transposes it in registers, and stores a word of the run of each column.
//@ if staggered
//
// Runs begin anywhere in their words. A lane then stores what its own word and that of the lane before it hold of a word
// of memory; elements at the ends of runs, less than a word, are stored one by one.
//@ end
//@ # Facts of the kernel: rank, threads, box, Offset, element_bytes; columns, column_dimension, group_bytes, groups_together,
//@ # column_index; run_elements, run_dimension, words, strips, lanes, place_index; others, other_index; line_bytes,
//@ # line_units, line_count, line_index, line_reach; image_step, skewed, skew_every, below, image_alignment, image_bytes,
//@ # most_tiles. `fused`: columns have several dimensions.
#include "tmajit/async_copy.cuh"
#include "tmajit/block_transpose.cuh"
#include "tmajit/image_unit.cuh"
#include "tmajit/raw.cuh"
#include "tmajit/shared.cuh"
#include "tmajit/view_tile.cuh"

namespace tmajit {

constexpr u32 word_bytes = element_bytes < 4 ? 4 : element_bytes;
constexpr u32 in_word = word_bytes / element_bytes;       // elements, and lines of a block
constexpr u32 in_group = group_bytes / element_bytes;     // columns that a thread takes at once
constexpr u32 group_words = group_bytes / 4;

using WeaveViews = params::Views<rank, 1>;
using Element = typename Bits<element_bytes>::Type;
using Word = Vector<word_bytes>;

// A tile of the CTA's.
struct TilePlace {
  i64 source;        // bytes from the source's first element to where the tile's first line begins
  i64 destination;   // bytes from the destination's first element to the tile's
  i32 inside[rank];  // elements that exist
  u32 cut;           // whether some do not
  u32 inner;         // whether all units that hold an element lie in the source's own memory

  __device__ __forceinline__ TilePlace(const WeaveViews& views, u32 number) {
    const Tile<rank> tile(views.head, box(), number);
    destination = tile.in(views.head.destination) - views.head.destination.first;
    source = tile.in(views.source[0]) - views.source[0].first - below;
    inner = is_inner(views.source[0], tile, 0);
    cut = 0;
//@ each d
    inside[d] = tile.inside[d];
    cut |= inside[d] < static_cast<i32>(box().at[d]);
//@ end
  }

  // Whether an index exists.
  __device__ __forceinline__ bool has(const u32 (&index)[rank]) const {
    bool all = true;
//@ each d
    all &= static_cast<i32>(index[d]) < inside[d];
//@ end
    return all;
  }
};

// What lies in shared memory before the images.
struct Tables {
  TilePlace tile[most_tiles];
  i32 place[run_elements];  // of the elements of a run, in the image
//@ if fused
  Offset column[columns + in_group];  // bytes from the tile's first element to that of a column's run
//@ end
};
constexpr u32 images = (sizeof(Tables) + unit - 1) / unit * unit;  // where the first begins

// Bytes of the image to an index.
__device__ __forceinline__ i32 in_image(const u32 (&index)[rank]) {
  i32 at = 0;
//@ each d
  at += static_cast<i32>(index[d]) * image_step().at[d];
  if (d == skewed) at += index[d] / skew_every * unit;
//@ end
  return at;
}

__device__ __forceinline__ Offset in_memory(const params::View<rank>& view, const u32 (&index)[rank]) {
  Offset at = 0;
//@ each d
  at += static_cast<Offset>(index[d]) * static_cast<Offset>(view.step[d]);
//@ end
  return at;
}

__device__ __forceinline__ void write_tables(Tables& tables, const params::View<rank>& destination) {
#pragma unroll 1
  for (u32 n = threadIdx.x; n < run_elements; n += threads) {
    u32 index[rank];
    place_index(n, index);
    tables.place[n] = in_image(index) + static_cast<i32>(below);
  }
//@ if fused
#pragma unroll 1
  for (u32 n = threadIdx.x; n < columns + in_group; n += threads) {
    u32 index[rank];
    column_index(least(n, columns - 1), index);  // the last group may go on after them
    tables.column[n] = in_memory(destination, index);
  }
//@ end
}

// ---- the image ----

// Copies the 16 bytes that are `in_line` bytes after the multiple of 16 at or before a line's beginning, if they hold
// any of its `length`. The line begins at `image` in shared memory.
__device__ __forceinline__ void copy_of_line(u32 image, const u8* line, u32 in_line, i32 length,
                                             const params::View<rank>& view, bool inner) {
  const u32 into = static_cast<u32>(reinterpret_cast<u64>(line)) % unit;
  const i32 at = static_cast<i32>(in_line - into);
  if (at >= length) return;
  const u8* from = line + at;
  if (inner) {
    ptx::copy16_async(image + at, from, unit);
  } else {
    copy_unit<element_bytes>(image + at, from, from < view.high, view, false);
  }
}

// Copies every 16 bytes that hold an element of the tile, or something else of a group of columns that has one.
__device__ __forceinline__ void load_image(const params::View<rank>& view, const TilePlace& tile, const u8* source, u32 image) {
  u32 length = line_bytes;  // of the lines' part that exists
  if (tile.cut) {
    u32 existing = group_bytes;
//@ each d
    existing += (tile.inside[d] - 1) * line_reach().at[d];
//@ end
    length = least(existing, length);
  }
  // What a group of columns has beyond an edge may not be the source's.
  const bool inner = tile.inner != 0 && tile.cut == 0;
#pragma unroll 2
  for (u32 n = threadIdx.x; n < line_count * line_units; n += threads) {
    u32 index[rank];
    line_index(n / line_units, index);
    if (!inner && !tile.has(index)) continue;
    copy_of_line(image + in_image(index), source + in_memory(view, index), n % line_units * unit, static_cast<i32>(length),
                 view, inner);
  }
}

// ---- blocks ----

// The group of columns at `from`, of one line. `bytes` of it exist.
__device__ __forceinline__ void load_group(u32 (&word)[group_words], const u8* from, u32 bytes) {
//@ if unaligned
  const u32 past = static_cast<u32>(reinterpret_cast<u64>(from)) % 4;
  const auto* words = reinterpret_cast<const u32*>(from - past);
  u32 low = words[0];
#pragma unroll
  for (u32 k = 0; k < group_words; ++k) {
    // Nothing may have come to the word after the last one that is needed.
    const u32 high = words[k + 1 < group_words ? k + 1 : (past + bytes - 1) / 4];
    word[k] = __funnelshift_r(low, high, 8 * past);
    low = high;
  }
//@ else
  load_words<image_alignment>(word, from);
//@ end
}

// A word of the run of each column of a group, which begins `offset` bytes from where lines do. `bytes` of it exist.
__device__ __forceinline__ void load_block(Word (&column)[in_group], const u8* const (&from)[in_word], u32 offset, u32 bytes) {
  u32 line[in_word][group_words];
#pragma unroll
  for (u32 i = 0; i < in_word; ++i) load_group(line[i], from[i] + offset, bytes);
  constexpr u32 words_of_one = word_bytes / 4;
#pragma unroll
  for (u32 k = 0; k < group_bytes / word_bytes; ++k) {
    Block<element_bytes, word_bytes> block;
#pragma unroll
    for (u32 i = 0; i < in_word; ++i) {
#pragma unroll
      for (u32 w = 0; w < words_of_one; ++w) block.row[i].word[w] = line[i][k * words_of_one + w];
    }
    block = transpose(block);
#pragma unroll
    for (u32 i = 0; i < in_word; ++i) column[k * in_word + i] = block.row[i];
  }
}

// Where a group of columns begins. The last one begins so early that it ends with the columns: what would follow may not
// be in the image. It keeps the alignment of others.
__device__ __forceinline__ u32 begin_of(u32 group, u32 existing) {
//@ if unaligned
  constexpr u32 step = 1;
//@ else
  constexpr u32 step = least(image_alignment, group_bytes) / element_bytes;
//@ end
  const u32 begin = group * in_group;
  if (existing < in_group) return begin;
  return least(begin, (existing - in_group + step - 1) / step * step);
}

// How much of a tile exists, in elements.
struct WholeSides {
  static constexpr u32 columns = tmajit::columns;
  static constexpr u32 run = run_elements;
};
//@ if cut
constexpr u32 in_column = columns / box().at[column_dimension];  // columns of one index of that dimension
constexpr u32 in_run = run_elements / box().at[run_dimension];   // likewise elements of a run
struct CutSides {
  u32 columns;
  u32 run;

  __device__ __forceinline__ explicit CutSides(const TilePlace& tile)
      : columns(tile.inside[column_dimension] * in_column), run(tile.inside[run_dimension] * in_run) {}
};
//@ end

// Where the runs of a group's columns begin.
struct ColumnRuns {
  u8* first;
//@ if fused
  const Offset* offset;  // bytes of each from there

  __device__ __forceinline__ u8* operator[](u32 k) const { return first + offset[k]; }
//@ else
  i64 step;  // bytes from one to the next

  __device__ __forceinline__ u8* operator[](u32 k) const { return first + static_cast<i64>(k) * step; }
//@ end
};

// A word of the run of each column of a group, which its lane has loaded, to where it belongs in memory. `first` to `last`
// are the columns that are stored.
__device__ __forceinline__ void store_block(Word (&column)[in_group], const ColumnRuns& runs, u32 n, u32 run, bool stores,
                                            u32 first, u32 last) {
//@ if staggered
  // How many bytes before its run a word may begin for all of it to be stored.
  const u32 least_past = (n + 1) * in_word <= run ? 0 : ((n + 1) * in_word - run) * element_bytes;
  const u32 most_past = n == 0 ? 0 : word_bytes - 1;
  const u32 pasts = stores && least_past <= most_past ? most_past - least_past + 1 : 0;
#pragma unroll
  for (u32 k = 0; k < in_group; ++k) {
    u8* at = runs[k];
    const u32 past = static_cast<u32>(reinterpret_cast<u64>(at)) % word_bytes;  // bytes
    const u32 before = __shfl_up_sync(~0U, column[k].word[0], 1, lanes);
    column[k].word[0] = __funnelshift_l(before, column[k].word[0], 8 * past);
    if (past - least_past < pasts && k - first < last - first) *reinterpret_cast<Word*>(at - past) = column[k];
  }
//@ else
  if (!stores) return;
#pragma unroll
  for (u32 k = 0; k < in_group; ++k) {
    if (k - first < last - first) *reinterpret_cast<Word*>(runs[k]) = column[k];
  }
//@ end
}

template <class Sides>
__device__ __forceinline__ void store_blocks(const params::View<rank>& view, const Tables& tables, const TilePlace& tile,
                                             const Sides& sides, const u8* image, u8* destination) {
//@ if staggered
  constexpr u32 along = lanes - 1;  // words of a strip: the first lane has the word before it
//@ else
  constexpr u32 along = lanes;  // words of a strip
//@ end
  constexpr u32 chunks = ((columns + in_group - 1) / in_group + groups_together - 1) / groups_together;
  constexpr u32 items = strips * chunks * others;
  constexpr u32 teams = threads / lanes;
  const u32 lane = threadIdx.x % lanes;
  const u32 groups = (sides.columns + in_group - 1) / in_group;
#pragma unroll 1
  for (u32 start = 0; start < items; start += teams) {
    // Lanes hand words to each other: all of a warp come along.
    const u32 item = start + threadIdx.x / lanes;
    const u32 strip = item % strips;
    const u32 chunk = item / strips % chunks;
    u32 index[rank];
    other_index(item / (strips * chunks), index);
    const u32 n = strip * along + lane;
    const bool loads = (items % teams == 0 || item < items) && n < words && (others == 1 || tile.has(index));
//@ if staggered
    const bool stores = loads && (strip == 0 || lane > 0);
//@ else
    const bool stores = loads && (n + 1) * in_word <= sides.run;
//@ end
    // The last element of a run stands for those after it: their lines may not be in the image.
    const u8* line[in_word];
#pragma unroll
    for (u32 i = 0; i < in_word; ++i) {
      line[i] = image + (loads ? in_image(index) + tables.place[least(n * in_word + i, sides.run - 1)] : 0);
    }
    u8* to = destination + in_memory(view, index) + n * word_bytes;
#pragma unroll 1
    for (u32 k = 0; k < groups_together; ++k) {
      // Chunks of one warp end together, for lanes hand words to each other; the last group stands for those after it.
      const u32 group = least(chunk * groups_together + k, groups - 1);
      const bool own = group == chunk * groups_together + k;
      const u32 begin = begin_of(group, sides.columns);
      Word column[in_group];
      if (loads) load_block(column, line, begin * element_bytes, least(sides.columns - begin, in_group) * element_bytes);
//@ if fused
      const ColumnRuns runs{to, tables.column + begin};
//@ else
      const i64 step = view.step[column_dimension];
      const ColumnRuns runs{to + static_cast<i64>(begin) * step, step};
//@ end
      store_block(column, runs, n, sides.run, stores && own, group * in_group - begin, sides.columns - begin);
    }
  }
}

//@ if !words
// The elements of runs that do not fill a word of memory: those before its first whole word, and those after its last.
template <class Sides>
__device__ __forceinline__ void store_ends(const params::View<rank>& view, const Tables& tables, const TilePlace& tile,
                                           const Sides& sides, const u8* image, u8* destination) {
#pragma unroll 1
  for (u32 n = threadIdx.x; n < others * columns; n += threads) {
    const u32 column = n % columns;
    u32 index[rank];
    other_index(n / columns, index);
    if (column >= sides.columns || (others > 1 && !tile.has(index))) continue;
    const u8* from = image + in_image(index) + column * element_bytes;
//@ if fused
    const i64 of_column = tables.column[column];
//@ else
    const i64 of_column = static_cast<i64>(column) * view.step[column_dimension];
//@ end
    auto* to = reinterpret_cast<Element*>(destination + in_memory(view, index) + of_column);
    const u32 past = static_cast<u32>(reinterpret_cast<u64>(to)) % word_bytes / element_bytes;
    const u32 head = least(past == 0 ? 0 : in_word - past, sides.run);
    const u32 tail = (sides.run - head) % in_word;
#pragma unroll
    for (u32 k = 0; k + 1 < in_word; ++k) {
      if (k < head) to[k] = *reinterpret_cast<const Element*>(from + tables.place[k]);
      const u32 last = sides.run - 1 - k;
      if (k < tail) to[last] = *reinterpret_cast<const Element*>(from + tables.place[last]);
    }
  }
}

//@ end
template <class Sides>
__device__ __forceinline__ void store_tile(const params::View<rank>& view, const Tables& tables, const TilePlace& tile,
                                           const Sides& sides, const u8* image, u8* destination) {
  store_blocks(view, tables, tile, sides, image, destination);
//@ if !words
  store_ends(view, tables, tile, sides, image, destination);
//@ end
}

// While the CTA stores a tile, what the next one needs is on its way to the other of two images.
__device__ __forceinline__ void weave_tiles(const WeaveViews& views, u32 tiles) {
  extern __shared__ __align__(16) u8 shared[];
  const params::View<rank>& view = views.source[0];
  const params::View<rank>& destination = views.head.destination;
  Tables& tables = *reinterpret_cast<Tables*>(shared);
  // CTAs side by side do tiles side by side: what one of them leaves of a sector the next one has.
  const u32 count = (tiles - blockIdx.x + gridDim.x - 1) / gridDim.x;
  if (threadIdx.x < count) tables.tile[threadIdx.x] = TilePlace(views, blockIdx.x + threadIdx.x * gridDim.x);
  write_tables(tables, destination);
  __syncthreads();

  // An image begins as far from a multiple of 16 bytes as the source's first line.
  const auto source_of = [&](u32 n) { return view.first + tables.tile[n].source; };
  const auto image_of = [&](u32 n) {
    return shared + images + n % 2 * image_bytes + static_cast<u32>(reinterpret_cast<u64>(source_of(n))) % unit;
  };
  const auto load = [&](u32 n) {
    load_image(view, tables.tile[n], source_of(n), ptx::shared_address(image_of(n)));
    ptx::close_async_group();
  };

#pragma unroll 1
  for (u32 n = 0; n <= count; ++n) {
    if (n < count) {
      load(n);
      if (n == 0) continue;
      ptx::wait_async_groups<1>();
    } else {
      ptx::wait_async_groups<0>();
    }
    __syncthreads();
    const TilePlace& tile = tables.tile[n - 1];
    const u8* image = image_of(n - 1);
    u8* to = destination.first + tile.destination;
//@ if cut
    if (tile.cut) {
      store_tile(destination, tables, tile, CutSides(tile), image, to);
    } else {
      store_tile(destination, tables, tile, WholeSides(), image, to);
    }
//@ else
    store_tile(destination, tables, tile, WholeSides(), image, to);
//@ end
    if (n < count) __syncthreads();
  }
}

}  // namespace tmajit
