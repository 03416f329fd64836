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
constexpr u32 in_chunk = words_at_once * in_word;         // elements that a thread loads at once
constexpr u32 stored_at_once = 4;                         // words of a thread
//@ if staggered
constexpr u32 before = in_word - 1;  // elements that a part of a run may begin before the tile
//@ else
constexpr u32 before = 0;
//@ end

using Element = typename Bits<element_bytes>::Type;
using Word = typename Bits<word_bytes>::Type;

// From where a view begins.
struct Place {
  Offset source;       // elements
  Offset destination;  // bytes
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
  Offset* element;  // of the run, in the source; the first is `before` elements before the tile
  Place* column;
  Word* image;  // column by column

  __device__ __forceinline__ Tables(u8* shared, const params::SpanTile& plan) {
    element = reinterpret_cast<Offset*>(shared);
    column = reinterpret_cast<Place*>(element + (plan.chunks * in_chunk + before + 3) / 4 * 4);
    image = reinterpret_cast<Word*>(column + plan.columns);
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
    corner.source += index * plan.digit[d].source * static_cast<i64>(element_bytes);
  }
  return corner;
}

// Elements and columns that do not exist stand for the last that does: loads need not ask.
__device__ __forceinline__ void write_tables(const params::SpanTile& plan, const Corner& corner, const Tables& tables) {
  const u32 elements = plan.chunks * in_chunk + before;
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

// The places of a chunk's elements in the source.
__device__ __forceinline__ void find_elements(Offset (&at)[in_chunk], const Offset* element) {
//@ if staggered
#pragma unroll
  for (u32 k = 0; k < in_chunk; ++k) at[k] = element[k];
//@ else
  constexpr u32 in_group = least(in_chunk, 16 / sizeof(Offset));
  struct alignas(in_group * sizeof(Offset)) Group {
    Offset at[in_group];
  };
#pragma unroll
  for (u32 k = 0; k < in_chunk; k += in_group) {
    const Group group = *reinterpret_cast<const Group*>(element + k);
#pragma unroll
    for (u32 i = 0; i < in_group; ++i) at[k + i] = group.at[i];
  }
//@ end
}

// Some words next to each other of a column. Its place and an element's are added first: their sum is short, an address is
// not.
__device__ __forceinline__ void load_chunk(const Element* source, Offset column, const Offset* element, Word* to) {
  Offset at[in_chunk];
  find_elements(at, element);
  Element loaded[in_chunk];
#pragma unroll
  for (u32 k = 0; k < in_chunk; ++k) loaded[k] = source[column + at[k]];
#pragma unroll
  for (u32 n = 0; n < words_at_once; ++n) {
    Word value = 0;
#pragma unroll
    for (u32 k = 0; k < in_word; ++k) value |= static_cast<Word>(loaded[n * in_word + k]) << 8 * element_bytes * k;
    to[n] = value;
  }
}

__device__ __forceinline__ void load_columns(const params::SpanTile& plan, const Corner& corner, const Tables& tables) {
  u32 row = threadIdx.x;
  const u32 lane = take(plan.lanes, row);
  if (row >= plan.rows) return;
  const auto* source = reinterpret_cast<const Element*>(corner.source);
#pragma unroll 1
  for (u32 c = lane; c < plan.columns; c += plan.lanes.divisor) {
    const Place column = tables.column[c];
    const Offset* element = tables.element + before - past_word(corner.destination + column.destination) / element_bytes;
    Word* to = tables.image + c * plan.pitch;
#pragma unroll 1
    for (u32 chunk = row; chunk < plan.chunks; chunk += plan.rows) {
      load_chunk(source, column.source, element + chunk * in_chunk, to + chunk * words_at_once);
    }
  }
}

// Threads side by side go along a column's part of its run, and on along the next column's: where the runs of columns
// follow each other in memory, so do the words of a warp. Words that are only partly the run's are left.
__device__ __forceinline__ void store_words(const params::SpanTile& plan, const Corner& corner, const Tables& tables) {
  const u32 columns = least(plan.columns, plan.all_columns - corner.column);
  const i32 last = static_cast<i32>(plan.run_elements) - static_cast<i32>(in_word);  // where a whole word may begin
  u32 first = threadIdx.x;                                                           // column
  const u32 lane = take(plan.stores, first);
  if (first >= plan.stored_columns) return;
#pragma unroll 1
  for (u32 word = lane; word < plan.words; word += plan.stores.divisor) {
    const i32 element = corner.element + static_cast<i32>(word * in_word);  // were the part to begin with a word
#pragma unroll 1
    for (u32 c = first; c < columns; c += stored_at_once * plan.stored_columns) {
      Word value[stored_at_once];
      u8* part[stored_at_once];
#pragma unroll
      for (u32 j = 0; j < stored_at_once; ++j) {
        const u32 column = c + j * plan.stored_columns;
        if (column >= columns) continue;
        value[j] = tables.image[column * plan.pitch + word];
        part[j] = corner.destination + tables.column[column].destination;
      }
#pragma unroll
      for (u32 j = 0; j < stored_at_once; ++j) {
        if (c + j * plan.stored_columns >= columns) continue;
        const u32 past = past_word(part[j]);
        const i32 begin = element - static_cast<i32>(past / element_bytes);
        if (begin >= 0 && begin <= last) *reinterpret_cast<Word*>(part[j] - past + word * word_bytes) = value[j];
      }
    }
  }
}

//@ if narrow
// What words have that are only partly the run's: elements before its first whole word, and those after its last.
__device__ __forceinline__ void store_ends(const params::SpanTile& plan, const Corner& corner, const Tables& tables) {
  const u32 columns = least(plan.columns, plan.all_columns - corner.column);
  const auto end = static_cast<i32>(plan.run_elements);
#pragma unroll 1
  for (u32 c = threadIdx.x; c < columns; c += threads) {
    auto* part = reinterpret_cast<Element*>(corner.destination + tables.column[c].destination) - corner.element;
    const auto* image = reinterpret_cast<const Element*>(tables.image + c * plan.pitch);
    const u32 past = past_word(corner.destination + tables.column[c].destination) / element_bytes;
    const i32 begin = corner.element - static_cast<i32>(past);  // the element, or none, that the image begins with
    const i32 head = begin < 0 ? least(in_word - past, plan.run_elements) : 0;
    const i32 stored = static_cast<i32>(least(plan.words * in_word, end - begin)) + begin;  // where the tile's elements end
    const i32 tail = stored == end ? static_cast<u32>(end - begin) % in_word : 0;
#pragma unroll
    for (i32 k = 0; k < static_cast<i32>(in_word) - 1; ++k) {
      if (k < head) part[k] = image[k - begin];
      if (k < tail && end - 1 - k >= head) part[end - 1 - k] = image[end - 1 - k - begin];
    }
  }
}

//@ end
__device__ __forceinline__ void move_tile(const params::SpanTile& plan) {
  extern __shared__ __align__(16) u8 shared[];
  const Corner corner = corner_of(plan, blockIdx.x);
  if (corner.column >= plan.all_columns) return;  // of the last group
  const Tables tables(shared, plan);
  write_tables(plan, corner, tables);
  __syncthreads();
  load_columns(plan, corner, tables);
  __syncthreads();
  store_words(plan, corner, tables);
//@ if narrow
  const u32 end = corner.element + plan.words * in_word;
  if (corner.element == 0 || end + before >= plan.run_elements) store_ends(plan, corner, tables);
//@ end
}

}  // namespace tmajit
