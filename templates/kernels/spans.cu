//@ if computes
// spans: computes a destination from sources that lie anyhow, any number of whose dimensions make up either side of a tile.
//@ else
// spans: moves bits between views that lie anyhow, any number of whose dimensions make up either side of a tile.
//@ end
//
// A run is what lies side by side in the destination's memory, a column one of a tile's runs: the dimensions of either side
// count as one, and a tile is a span of both, which begins and ends anywhere in them.
//@ if image
//
// Of a source that lies across the runs, threads side by side take columns side by side: each loads its elements of some
// words of the run one by one, all before it needs the first, and puts them into an image in shared memory. From there those
// threads take them that store along the runs.
//@ end
//@ if elements
//
// Of a source that lies along the runs, the threads that store words of the destination load the elements one by one, those
// of several words at once.
//@ end
//@ if staggered
//
// Runs begin anywhere in their words: a tile's part of one begins at a word of memory, up to a word earlier than others.
//@ end
//@ # Facts of the kernel: threads, Offset, in_chunk, stored_at_once and those of loaded_word.cuh.
#include "tmajit/division.cuh"
#include "tmajit/loaded_word.cuh"
#include "tmajit/span_tile.cuh"

namespace tmajit {

//@ if padded
using Plan = params::PaddedSpanTile;
//@ else
using Plan = params::SpanTile<sources>;
//@ end

//@ if staggered
constexpr u32 before = in_word - 1;  // elements that a part of a run may begin before the tile
//@ else
constexpr u32 before = 0;  // elements that a part of a run may begin before the tile
//@ end

// ---- places ----

// From where views begin.
struct Place {
  Offset source[sources];  // elements
  Offset destination;      // bytes
};
//@ if padded

// The place of elements that the source does not have.
constexpr Offset nowhere = Offset(1) << (8 * sizeof(Offset) - 1);

__device__ __forceinline__ bool is_inside(const Plan& plan, u32 digit, u32 index) {
  return index >= plan.first[digit] && index < plan.end[digit];
}
//@ end

// What the digits `first` to `last` of a number stand for.
__device__ __forceinline__ Place place_of(const Plan& plan, u32 first, u32 last, u32 n) {
  Place place{};
//@ if padded
  bool exists = true;
//@ end
#pragma unroll 1
  for (u32 d = first; d < last; ++d) {
    const u32 index = take(plan.digit[d].count, n);
//@ if padded
    exists = exists && is_inside(plan, d, index);
//@ end
#pragma unroll
    for (u32 s = 0; s < sources; ++s) {
      place.source[s] += static_cast<Offset>(index) * static_cast<Offset>(plan.digit[d].source[s]);
    }
    place.destination += static_cast<Offset>(index) * static_cast<Offset>(plan.digit[d].destination);
  }
//@ if padded
  if (!exists) place.source[0] = nowhere;
//@ end
  return place;
}

// What lies in shared memory.
struct Tables {
  u8* images;       // a source's is column by column
  Offset* element;  // of the run, in each source; the first is `before` elements before the tile
  Place* column;
  u32 elements;  // of each source

  __device__ __forceinline__ Tables(u8* shared, const Plan& plan) {
    elements = (plan.chunks * in_chunk + before + 3) / 4 * 4;
    images = shared;
    element = reinterpret_cast<Offset*>(shared + plan.tables);
    column = reinterpret_cast<Place*>(element + sources * elements);
  }
};

// Where a tile begins.
struct Corner {
  u32 column;
  i32 element;          // of the run
  u8* destination;      // of that element, were the column the view's first
  i64 source[sources];  // elements, of each view's first element and column
//@ if padded
  bool exists;          // in the dimensions that are neither runs nor columns
//@ end
};

__device__ __forceinline__ Corner corner_of(const Plan& plan, u32 tile) {
  Corner corner{};
  const u32 in_group = take(plan.group, tile);
  corner.element = static_cast<i32>(take(plan.run_tiles, tile) * plan.run);
  corner.column = (take(plan.groups, tile) * plan.group.divisor + in_group) * plan.columns;
  corner.destination = plan.destination + static_cast<i64>(corner.element) * element_bytes;
//@ if padded
  corner.exists = true;
//@ end
#pragma unroll 1
  for (u32 d = plan.column_digits; d < plan.digits; ++d) {
    const u32 index = take(plan.digit[d].count, tile);
//@ if padded
    corner.exists = corner.exists && is_inside(plan, d, index);
//@ end
    corner.destination += static_cast<i64>(index) * plan.digit[d].destination;
#pragma unroll
    for (u32 s = 0; s < sources; ++s) corner.source[s] += static_cast<i64>(index) * plan.digit[d].source[s];
  }
  return corner;
}

template <u32 i>
__device__ __forceinline__ const SourceBits<i>* first_of(const Plan& plan, const Corner& corner) {
  const u8* first = plan.source[i].first;
  return reinterpret_cast<const SourceBits<i>*>(first) + corner.source[i];
}

// Elements and columns that do not exist stand for the last that does: loads need not ask.
__device__ __forceinline__ void write_tables(const Plan& plan, const Corner& corner, const Tables& tables) {
#pragma unroll 1
  for (u32 n = threadIdx.x; n < plan.columns + tables.elements; n += threads) {
    if (n < plan.columns) {
      Place place = place_of(plan, plan.run_digits, plan.column_digits, least(corner.column + n, plan.all_columns - 1));
//@ if padded
      if (!corner.exists) place.source[0] = nowhere;
//@ end
      tables.column[n] = place;
    } else {
      const i32 at = corner.element + static_cast<i32>(n - plan.columns) - static_cast<i32>(before);
      const Place place = place_of(plan, 0, plan.run_digits, least(at < 0 ? 0 : at, plan.run_elements - 1));
#pragma unroll
      for (u32 s = 0; s < sources; ++s) tables.element[s * tables.elements + n - plan.columns] = place.source[s];
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

// ---- loads ----

// The places of some elements next to each other in a source.
template <u32 n>
__device__ __forceinline__ void find_elements(Offset (&at)[n], const Offset* element) {
//@ if staggered
#pragma unroll
  for (u32 k = 0; k < n; ++k) at[k] = element[k];
//@ else
  constexpr u32 in_group = least(n, 16 / sizeof(Offset));
  struct alignas(in_group * sizeof(Offset)) Group {
    Offset at[in_group];
  };
#pragma unroll
  for (u32 k = 0; k < n; k += in_group) {
    const Group group = *reinterpret_cast<const Group*>(element + k);
#pragma unroll
    for (u32 i = 0; i < in_group; ++i) at[k + i] = group.at[i];
  }
//@ end
}

// Elements of a column. Its place and an element's are added first: their sum is short, an address is not.
template <class Element, u32 n>
__device__ __forceinline__ void load_elements(Element (&loaded)[n], const Plan& plan, const Element* source, Offset column,
                                              const Offset* element) {
  Offset at[n];
  find_elements(at, element);
//@ if padded
  const Element padding = padding_bits(plan.value);
#pragma unroll
  for (u32 k = 0; k < n; ++k) {
    loaded[k] = column != nowhere && at[k] != nowhere ? source[column + at[k]] : padding;
  }
//@ else
#pragma unroll
  for (u32 k = 0; k < n; ++k) loaded[k] = source[column + at[k]];
//@ end
}

//@ if image
// Images hold whole words of a source's elements.
template <u32 i>
using ImageWord = typename Bits<sizeof(SourceBits<i>) < 4 ? 4 : sizeof(SourceBits<i>)>::Type;

// The image of a source that has one.
template <u32 i>
__device__ __forceinline__ void load_image(const Plan& plan, const Corner& corner, const Tables& tables, u32 lane, u32 row) {
  if constexpr (Source<i>::has_image) {
    constexpr u32 bits = 8 * sizeof(SourceBits<i>);
    constexpr u32 together = sizeof(ImageWord<i>) / sizeof(SourceBits<i>);
    const SourceBits<i>* source = first_of<i>(plan, corner);
    auto* image = reinterpret_cast<ImageWord<i>*>(tables.images + plan.source[i].image);
#pragma unroll 1
    for (u32 c = lane; c < plan.columns; c += plan.lanes.divisor) {
      const Place& column = tables.column[c];
      const u32 past = past_word(corner.destination + column.destination) / element_bytes;
      const Offset* element = tables.element + i * tables.elements + before - past;
      ImageWord<i>* to = image + c * plan.source[i].pitch;
#pragma unroll 1
      for (u32 chunk = row; chunk < plan.chunks; chunk += plan.rows) {
        SourceBits<i> loaded[in_chunk];
        load_elements(loaded, plan, source, column.source[i], element + chunk * in_chunk);
#pragma unroll
        for (u32 n = 0; n < in_chunk; n += together) {
          ImageWord<i> value = 0;
#pragma unroll
          for (u32 k = 0; k < together; ++k) value |= static_cast<ImageWord<i>>(loaded[n + k]) << bits * k;
          to[(chunk * in_chunk + n) / together] = value;
        }
      }
    }
  }
}

template <u32... i>
__device__ __forceinline__ void load_images(Indices<i...>, const Plan& plan, const Corner& corner, const Tables& tables) {
  u32 row = threadIdx.x;
  const u32 lane = take(plan.lanes, row);
  if (row < plan.rows) (load_image<i>(plan, corner, tables, lane, row), ...);
}

// Elements of a word of the destination, from a column of an image.
template <u32 bytes>
__device__ __forceinline__ void read_image(Raw<bytes, at_once>& out, const u8* column, u32 word) {
  const u8* from = column + word * in_word * bytes;
  if constexpr (bytes < 8 && in_word * bytes % 4 == 0) {
#pragma unroll
    for (u32 w = 0; w < in_word * bytes / 4; ++w) out.word[w] = reinterpret_cast<const u32*>(from)[w];
  } else {
#pragma unroll
    for (u32 k = 0; k < in_word; ++k) out.set(k, reinterpret_cast<const typename Raw<bytes, at_once>::Element*>(from)[k]);
  }
}

//@ end
// ---- words of the destination ----

// Loads a source's elements of a word of a column, which begins `past` elements before the tile's part of the run.
template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Corner& corner, const Tables& tables,
                                           u32 column, u32 word, u32 past) {
  input.bits = {};
//@ if image
  if constexpr (Source<i>::has_image) {
    const u32 first = plan.source[i].image + column * plan.source[i].pitch * sizeof(ImageWord<i>);
    read_image(input.bits, tables.images + first, word);
  }
//@ end
//@ if elements
  if constexpr (!Source<i>::has_image) {
    const Offset* element = tables.element + i * tables.elements + before - past;
    SourceBits<i> loaded[in_word];
    load_elements(loaded, plan, first_of<i>(plan, corner), tables.column[column].source[i], element + word * in_word);
#pragma unroll
    for (u32 k = 0; k < in_word; ++k) input.bits.set(k, loaded[k]);
  }
//@ end
}

template <u32... i>
__device__ __forceinline__ void load_inputs(Inputs<i...>& inputs, const Plan& plan, const Corner& corner,
                                            const Tables& tables, u32 column, u32 word, u32 past) {
  (load_input<i>(inputs, plan, corner, tables, column, word, past), ...);
}

// Threads side by side go along a column's part of its run, and on along the next column's: where the runs of columns
// follow each other in memory, so do the words of a warp. Words that are only partly the run's are left.
template <u32... i>
__device__ __forceinline__ void store_words(Indices<i...>, const Plan& plan, const Corner& corner, const Tables& tables) {
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
      Inputs<i...> inputs[stored_at_once];
      u8* part[stored_at_once];
#pragma unroll
      for (u32 j = 0; j < stored_at_once; ++j) {
        const u32 column = least(c + j * plan.stored_columns, columns - 1);
        part[j] = corner.destination + tables.column[column].destination;
        load_inputs(inputs[j], plan, corner, tables, column, word, past_word(part[j]) / element_bytes);
      }
#pragma unroll
      for (u32 j = 0; j < stored_at_once; ++j) {
        if (c + j * plan.stored_columns >= columns) continue;
        const u32 past = past_word(part[j]);
        const i32 begin = element - static_cast<i32>(past / element_bytes);
        if (begin >= 0 && begin <= last) store_word(part[j] - past + word * word_bytes, word_of(inputs[j]));
      }
    }
  }
}

//@ if cut
// What words have that are only partly the run's: a thread does the first of a column's part, or that with the run's end.
template <u32... i>
__device__ __forceinline__ void store_ends(Indices<i...>, const Plan& plan, const Corner& corner, const Tables& tables) {
  const u32 columns = least(plan.columns, plan.all_columns - corner.column);
  const auto end = static_cast<i32>(plan.run_elements);
#pragma unroll 1
  for (u32 n = threadIdx.x; n < 2 * columns; n += threads) {
    const u32 column = n / 2;
    u8* part = corner.destination + tables.column[column].destination;
    const u32 past = past_word(part);
    const i32 begin = corner.element - static_cast<i32>(past / element_bytes);  // the element, or none, of the first word
    const u32 word = n % 2 == 0 ? 0 : static_cast<u32>(end - 1 - begin) / in_word;
    const i32 own = begin + static_cast<i32>(word * in_word);
    const bool whole = own >= 0 && own + static_cast<i32>(in_word) <= end;
    if (whole || own >= end || word >= plan.words || (n % 2 == 1 && word == 0)) continue;
    Inputs<i...> inputs;
    load_inputs(inputs, plan, corner, tables, column, word, past / element_bytes);
    const Word value = word_of(inputs);
    auto* to = reinterpret_cast<typename Word::Element*>(part - past + word * word_bytes);
#pragma unroll
    for (i32 k = 0; k < static_cast<i32>(in_word); ++k) {
      if (own + k >= 0 && own + k < end) to[k] = value.get(k);
    }
  }
}

//@ end
__device__ __forceinline__ void move_tile(const Plan& plan) {
  extern __shared__ __align__(16) u8 shared[];
  const Corner corner = corner_of(plan, blockIdx.x);
  if (corner.column >= plan.all_columns) return;  // of the last group
  const Tables tables(shared, plan);
  write_tables(plan, corner, tables);
  __syncthreads();
//@ if image
  load_images(AllSources{}, plan, corner, tables);
  __syncthreads();
//@ end
  store_words(AllSources{}, plan, corner, tables);
//@ if cut
  const u32 end = corner.element + plan.words * in_word;
  if (corner.element == 0 || end + before >= plan.run_elements) store_ends(AllSources{}, plan, corner, tables);
//@ end
}

}  // namespace tmajit
