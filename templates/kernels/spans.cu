// spans: moves bits between views that are contiguous in different dimensions, any number of which make up either side of
// a tile.
//
// A column is an element of the source's side, a run all that it has on the destination's: the dimensions of either count
// as one, and a tile is a span of both, which begins and ends anywhere in them. Threads side by side take columns side by
// side: each loads its elements of some words of the run one by one, all before it needs the first, and puts the words
// into shared memory. From there they go to the destination along the runs.
//@ if staggered
//
// Runs begin anywhere in their words: a tile's part of one begins at a word of memory, up to a word earlier than others.
//@ end
//@ # Facts of the kernel: threads, Offset, element_bytes, words_at_once.
#include "tmajit/division.cuh"
#include "tmajit/raw.cuh"
#include "tmajit/span_tile.cuh"

namespace tmajit {

constexpr u32 word_bytes = element_bytes < 4 ? 4 : element_bytes;
constexpr u32 in_word = word_bytes / element_bytes;  // elements
//@ if staggered
constexpr u32 before = in_word - 1;  // elements that a part of a run may begin before the tile
//@ else
constexpr u32 before = 0;
//@ end

using Element = typename Bits<element_bytes>::Type;
using Word = typename Bits<word_bytes>::Type;

// Bytes from where a view begins.
struct Place {
  Offset source;
  Offset destination;
};

// What the digits `first` to `last` of a number stand for.
__device__ __forceinline__ Place place_of(const params::SpanTile& plan, u32 first, u32 last, u32 n) {
  Place place{0, 0};
#pragma unroll 1
  for (u32 d = first; d < last; ++d) {
    const auto index = static_cast<Offset>(take(plan.digit[d].count, n));
    place.source += index * static_cast<Offset>(plan.digit[d].source);
    place.destination += index * static_cast<Offset>(plan.digit[d].destination);
  }
  return place;
}

// What lies in shared memory.
struct Tables {
  Place* column;
  Offset* element;  // of the run, in the source; the first is `before` elements before the tile
  Word* image;      // column by column

  __device__ __forceinline__ Tables(u8* shared, const params::SpanTile& plan) {
    image = reinterpret_cast<Word*>(shared);
    column = reinterpret_cast<Place*>(image + (plan.columns * plan.pitch + 1) / 2 * 2);
    element = reinterpret_cast<Offset*>(column + plan.columns);
  }
};

// Where a tile begins.
struct Corner {
  u32 column;
  i32 element;      // of the run
  u8* destination;  // of that element, were the column the view's first
  const u8* source;  // of the view's first element and column
};

__device__ __forceinline__ Corner corner_of(const params::SpanTile& plan, u32 tile) {
  Corner corner;
  const u32 in_group = take(plan.group, tile);
  corner.element = static_cast<i32>(take(plan.run_tiles, tile) * plan.run);
  corner.column = (take(plan.groups, tile) * plan.group.divisor + in_group) * plan.columns;
  corner.destination = plan.destination + static_cast<i64>(corner.element) * element_bytes;
  corner.source = plan.source;
#pragma unroll 1
  for (u32 d = plan.column_digits; d < plan.digits; ++d) {
    const auto index = static_cast<i64>(take(plan.digit[d].count, tile));
    corner.destination += index * plan.digit[d].destination;
    corner.source += index * plan.digit[d].source;
  }
  return corner;
}

// Elements and columns that do not exist stand for the last that does: loads need not ask.
__device__ __forceinline__ void write_tables(const params::SpanTile& plan, const Corner& corner, const Tables& tables) {
  const u32 elements = plan.words.divisor * in_word + before;
#pragma unroll 1
  for (u32 n = threadIdx.x; n < plan.columns + elements; n += threads) {
    if (n < plan.columns) {
      tables.column[n] = place_of(plan, plan.run_digits, plan.column_digits, least(corner.column + n, plan.all_columns - 1));
    } else {
      const i32 at = corner.element + static_cast<i32>(n - plan.columns) - static_cast<i32>(before);
      const u32 existing = least(at < 0 ? 0 : at, plan.run_elements - 1);
      tables.element[n - plan.columns] = place_of(plan, 0, plan.run_digits, existing).source;
    }
  }
}

// Bytes of a word of memory before a part of a run begins in it.
__device__ __forceinline__ u32 past_word(const u8* part) {
//@ if staggered
  return static_cast<u32>(reinterpret_cast<u64>(part)) % word_bytes;
//@ else
  return 0;
//@ end
}

// Some words of a column, `apart` words of its run from each other.
__device__ __forceinline__ void load_words_of(const u8* from, const Offset* element, u32 word, u32 apart, u32 words, Word* to) {
  Offset at[words_at_once][in_word];
#pragma unroll
  for (u32 j = 0; j < words_at_once; ++j) {
    const u32 n = least(word + j * apart, words - 1) * in_word;
#pragma unroll
    for (u32 k = 0; k < in_word; ++k) at[j][k] = element[n + k];
  }
  Element loaded[words_at_once][in_word];
#pragma unroll
  for (u32 j = 0; j < words_at_once; ++j) {
#pragma unroll
    for (u32 k = 0; k < in_word; ++k) loaded[j][k] = *reinterpret_cast<const Element*>(from + at[j][k]);
  }
#pragma unroll
  for (u32 j = 0; j < words_at_once; ++j) {
    Word value = 0;
#pragma unroll
    for (u32 k = 0; k < in_word; ++k) value |= static_cast<Word>(loaded[j][k]) << 8 * element_bytes * k;
    if (word + j * apart < words) to[word + j * apart] = value;
  }
}

__device__ __forceinline__ void load_columns(const params::SpanTile& plan, const Corner& corner, const Tables& tables) {
  u32 row = threadIdx.x;
  const u32 lane = take(plan.lanes, row);
  if (row >= plan.rows) return;
#pragma unroll 1
  for (u32 c = lane; c < plan.columns; c += plan.lanes.divisor) {
    const Place column = tables.column[c];
    const Offset* element = tables.element + before - past_word(corner.destination + column.destination) / element_bytes;
    Word* to = tables.image + c * plan.pitch;
#pragma unroll 1
    for (u32 word = row; word < plan.words.divisor; word += words_at_once * plan.rows) {
      load_words_of(corner.source + column.source, element, word, plan.rows, plan.words.divisor, to);
    }
  }
}

__device__ __forceinline__ void store_runs(const params::SpanTile& plan, const Corner& corner, const Tables& tables) {
  const u32 columns = least(plan.columns, plan.all_columns - corner.column);
  const i32 end = static_cast<i32>(plan.run_elements);
  // Whether all words of the tile are whole.
  const i32 part_end = corner.element + static_cast<i32>(plan.words.divisor * in_word);
  const bool inner = corner.element >= static_cast<i32>(before) && part_end <= end;
#pragma unroll 4
  for (u32 n = threadIdx.x; n < columns * plan.words.divisor; n += threads) {
    u32 column = n;
    const u32 word = take(plan.words, column);
    u8* part = corner.destination + tables.column[column].destination;
    const u32 past = past_word(part);
    u8* to = part - past + word * word_bytes;
    const i32 element = corner.element + static_cast<i32>(word * in_word) - static_cast<i32>(past / element_bytes);
    const Word value = tables.image[column * plan.pitch + word];
    if (inner || (element >= 0 && element + static_cast<i32>(in_word) <= end)) {
      *reinterpret_cast<Word*>(to) = value;
      continue;
    }
#pragma unroll
    for (u32 k = 0; k < in_word; ++k) {
      const i32 at = element + static_cast<i32>(k);
      if (at >= 0 && at < end) reinterpret_cast<Element*>(to)[k] = static_cast<Element>(value >> 8 * element_bytes * k);
    }
  }
}

__device__ __forceinline__ void move_tile(const params::SpanTile& plan) {
  extern __shared__ __align__(16) u8 shared[];
  const Corner corner = corner_of(plan, blockIdx.x);
  if (corner.column >= plan.all_columns) return;  // of the last group
  const Tables tables(shared, plan);
  write_tables(plan, corner, tables);
  __syncthreads();
  load_columns(plan, corner, tables);
  __syncthreads();
  store_runs(plan, corner, tables);
}

}  // namespace tmajit
