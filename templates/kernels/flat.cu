// flat: moves tiles whose sides x and y each run over several dimensions, so that no short dimension leaves part of a tile empty.
//
// x indexes elements that are contiguous in the destination's memory; y indexes all other dimensions, beginning with the one
// that is contiguous in a source. Both are flat indices: one number for several dimensions. A CTA moves a tile of x by y
// elements:
//
//   1. its threads divide each x and each y of the tile into indices and write the offsets into tables in shared memory;
//   2. neighbouring threads along y load elements that are neighbours in the source, a group of x each, and put them into
//      an image in shared memory that has a row for each y; where short rows of x are contiguous in the source, too,
//      neighbouring threads differ in x first;
//   3. neighbouring threads along x read words from the rows and store them next to each other in the destination.
//
// In a joined kernel a tile consists of whole rows that are contiguous in the destination. Its image has the destination's layout,
// so a word may span several rows.
//
// The sectors of 32 bytes that a tile loads in part stay in the L1 cache for the CTAs of neighbouring tiles.
//@ # Facts of the kernel: threads, Offset, group, loads, stores, staggered, joined and those of loaded_word.cuh. Each source also
//@ # has `y_per_load`: the elements of one load along y, or 0 for a source without an image.
#include "tmajit/division.cuh"
#include "tmajit/flat_tile.cuh"
#include "tmajit/global.cuh"
#include "tmajit/loaded_word.cuh"

namespace tmajit {

using Plan = params::FlatTile<sources>;

// In a staggered kernel rows begin anywhere in a word of the destination. A row's first word may then begin before the tile;
// its image begins `halo` elements before the tile.
constexpr u32 halo = !staggered || joined ? 0 : word_elements < group ? group : word_elements;

// ---- 1. offsets ----

// Offsets of a row of the tile in each tensor, in elements.
struct Row {
  Offset source[sources];
  Offset destination;
};
//@ if padded

// The offset of an element outside the source.
constexpr Offset nowhere = Offset(1) << (8 * sizeof(Offset) - 1);
//@ end

// The offsets of a flat index, which is divided into the digits [first, last).
__device__ __forceinline__ Row offsets_of(const Plan& plan, u32 first, u32 last, u32 index) {
  Row row{};
  bool exists = true;
#pragma unroll 1
  for (u32 d = first; d < last; ++d) {
    const u32 i = take(plan.digit[d].extent, index);
    exists = exists && i >= plan.digit[d].first && i < plan.digit[d].end;
    row.destination += static_cast<Offset>(i) * static_cast<Offset>(plan.digit[d].destination_stride);
#pragma unroll
    for (u32 s = 0; s < sources; ++s) row.source[s] += static_cast<Offset>(i) * static_cast<Offset>(plan.digit[d].source_stride[s]);
  }
//@ if padded
  if (!exists) row.source[0] = nowhere;
//@ end
  return row;
}

struct Tile {
  u32 x;            // first index of the tile
  u32 y;
  u32 rows;         // number of existing y
  Row* row;         // the table of y
  Offset* column;   // the table of x, which begins `halo` elements before the tile, for one source after the other
  u32 columns;      // entries of it for each source
  u8* images;
};

__device__ __forceinline__ Tile tile_of(const Plan& plan, u8* shared) {
  Tile tile;
  u32 n = blockIdx.x;
  const u32 y_tile = take(plan.consecutive_y_tiles, n);
  tile.x = take(plan.x_tiles, n) * plan.x;
  tile.y = (n * plan.consecutive_y_tiles.divisor + y_tile) * plan.y;
  tile.rows = tile.y < plan.y_extent ? least(plan.y, plan.y_extent - tile.y) : 0;
  tile.columns = plan.x + halo;
  tile.images = shared;
  tile.column = reinterpret_cast<Offset*>(shared + plan.tables);
  tile.row = reinterpret_cast<Row*>(tile.column + sources * tile.columns);
  return tile;
}

// Indices beyond the ends are clamped, so that loads need no predicate.
__device__ __forceinline__ void write_tables(const Plan& plan, const Tile& tile) {
#pragma unroll 1
  for (u32 n = threadIdx.x; n < tile.rows; n += threads) tile.row[n] = offsets_of(plan, plan.x_digits, plan.digits, tile.y + n);
#pragma unroll 1
  for (u32 n = threadIdx.x; n < tile.columns; n += threads) {
    const i32 x = max(static_cast<i32>(tile.x + n) - static_cast<i32>(halo), 0);
    const Row offsets = offsets_of(plan, 0, plan.x_digits, least(x, plan.x_extent - 1));
#pragma unroll
    for (u32 s = 0; s < sources; ++s) tile.column[s * tile.columns + n] = offsets.source[s];
  }
}

// The position, in its word of the destination, of the element at offset `at`. In elements.
__device__ __forceinline__ u32 position_in_word(const Plan& plan, Offset at) {
  if constexpr (!staggered) return 0;
  const u64 first = reinterpret_cast<u64>(static_cast<u8*>(plan.destination)) / element_bytes;
  return (static_cast<u32>(first) + static_cast<u32>(at)) % word_elements;
}

// ---- 2. images ----

// An image holds words of 4 or 8 bytes: the elements of a row one after the other.
template <u32 i>
using ImageWord = typename Bits<sizeof(SourceBits<i>) < 4 ? 4 : sizeof(SourceBits<i>)>::Type;

// The row of an image that holds `y`. Rows of one load are spread out, so that neighbouring threads access different banks.
template <u32 i>
__device__ __forceinline__ u32 image_row(const Plan& plan, u32 y) {
  if constexpr (Source<i>::y_per_load == 1) return y;
  return y % Source<i>::y_per_load * plan.source[i].y_lanes.divisor + y / Source<i>::y_per_load;
}

// The offsets of a group of x.
struct alignas(group * sizeof(Offset) < 16 ? group * sizeof(Offset) : 16) Group {
  Offset at[group];
};

// A word of row `y` of an image, made of element `y` of several consecutive `loaded` words.
template <u32 bytes, class Loaded>
__device__ __forceinline__ Loaded across(const Loaded* loaded, u32 y) {
  if constexpr (bytes == 1) {
    const u32 bytes_y = 0x40 + 0x11 * y;  // selects byte y of each of two words
    return __byte_perm(__byte_perm(loaded[0], loaded[1], bytes_y), __byte_perm(loaded[2], loaded[3], bytes_y), 0x5410);
  } else if constexpr (bytes == 2) {
    return __byte_perm(loaded[0], loaded[1], 0x5410 + 0x2222 * y);
  } else {
    return loaded[0];
  }
}

// Stores a group to the words of an image, beginning at the column of the group's first element.
template <u32 i>
__device__ __forceinline__ void put_words(ImageWord<i>* image, const Plan& plan, const ImageWord<i> (&loaded)[group], u32 y) {
  constexpr u32 bytes = sizeof(SourceBits<i>);
  constexpr u32 per_word = sizeof(ImageWord<i>) / bytes;
#pragma unroll
  for (u32 n = 0; n < Source<i>::y_per_load; ++n) {
    ImageWord<i>* to = image + image_row<i>(plan, y + n) * plan.source[i].pitch;
#pragma unroll
    for (u32 k = 0; k < group; k += per_word) to[k / per_word] = across<bytes>(loaded + k, n);
  }
}

// Stores a group of a joined tile to its image, which has no gaps between rows.
template <u32 i, class Loaded>
__device__ __forceinline__ void put_elements(SourceBits<i>* image, const Plan& plan, const Loaded (&loaded)[group], u32 x, u32 y) {
#pragma unroll
  for (u32 k = 0; k < group; ++k) {
    if (x + k >= plan.x_extent) continue;
#pragma unroll
    for (u32 n = 0; n < Source<i>::y_per_load; ++n) {
      image[(y + n) * plan.x_extent + x + k] = static_cast<SourceBits<i>>(loaded[k] >> 8 * sizeof(SourceBits<i>) * n);
    }
  }
}

template <u32 i>
__device__ __forceinline__ void load_image(const Plan& plan, const Tile& tile) {
  if constexpr (Source<i>::y_per_load > 0) {
    constexpr u32 bytes = sizeof(SourceBits<i>);
    constexpr u32 y_per_load = Source<i>::y_per_load;
    using Loaded = ImageWord<i>;  // a load fills its first bytes
    constexpr u32 per_word = sizeof(ImageWord<i>) / bytes;
    const params::FlatSource& source = plan.source[i];
    u32 first = threadIdx.x;
    const u32 x_lane = take(source.x_lanes, first);
    const u32 y = take(source.y_lanes, first) * y_per_load;
    first = first * source.x_lanes.divisor + x_lane;
    if (first >= source.groups || y >= tile.rows) return;
    const u32 groups = (least(tile.columns, plan.x_extent - tile.x + halo) + group - 1) / group;
    const Offset row = tile.row[y].source[i];
    const auto* from = reinterpret_cast<const SourceBits<i>*>(static_cast<const u8*>(source.first)) + row;
    const Group* column = reinterpret_cast<const Group*>(tile.column + i * tile.columns);
    auto* image = reinterpret_cast<ImageWord<i>*>(tile.images + source.image);
    const u32 elements_before = joined ? position_in_word(plan, tile.row[0].destination) : 0;
//@ if padded
    const Loaded padding = padding_bits(plan.padding);
//@ end
#pragma unroll 1
    for (; first < groups; first += loads * source.groups) {
      Loaded loaded[loads][group];
#pragma unroll
      for (u32 j = 0; j < loads; ++j) {
        const Group offsets = column[least(first + j * source.groups, groups - 1)];
#pragma unroll
        for (u32 k = 0; k < group; ++k) {
//@ if padded
          loaded[j][k] = padding;
          ptx::load_evict_last_if<bytes>(row != nowhere && offsets.at[k] != nowhere, loaded[j][k], from + offsets.at[k]);
//@ else
          ptx::load_evict_last<bytes * y_per_load>(loaded[j][k], from + offsets.at[k]);
//@ end
        }
      }
#pragma unroll
      for (u32 j = 0; j < loads; ++j) {
        if (first + j * source.groups >= groups) continue;
        const u32 x = (first + j * source.groups) * group;
        if constexpr (joined) {
          put_elements<i>(reinterpret_cast<SourceBits<i>*>(image) + elements_before, plan, loaded[j], x, y);
        } else {
          put_words<i>(image + x / per_word, plan, loaded[j], y);
        }
      }
    }
  }
}

template <u32... i>
__device__ __forceinline__ void load_images(Indices<i...>, const Plan& plan, const Tile& tile) {
  (load_image<i>(plan, tile), ...);
}

// Reads the elements of a word of the destination from a row of an image, beginning at element `first`.
template <u32 bytes>
__device__ __forceinline__ void read_image(Raw<bytes, at_once>& out, const u8* row, u32 first) {
  if constexpr (joined && word_elements * bytes == 16) {
    const Vector16 all = load16(row + first * bytes);
#pragma unroll
    for (u32 w = 0; w < 4; ++w) out.word[w] = all.word[w];
  } else if constexpr (bytes < 8 && word_elements * bytes % 4 == 0) {
    constexpr u32 words = word_elements * bytes / 4;
    const u32* from = reinterpret_cast<const u32*>(row) + first * bytes / 4;
    if constexpr (staggered && !joined && bytes < 4) {
      u32 low = from[0];
#pragma unroll
      for (u32 w = 0; w < words; ++w) {
        const u32 high = from[w + 1];
        out.word[w] = __funnelshift_r(low, high, 8 * bytes * first);
        low = high;
      }
    } else {
#pragma unroll
      for (u32 w = 0; w < words; ++w) out.word[w] = from[w];
    }
  } else {
#pragma unroll
    for (u32 k = 0; k < word_elements; ++k) out.set(k, reinterpret_cast<const typename Raw<bytes, at_once>::Element*>(row)[first + k]);
  }
}

// ---- 3. words of the destination ----

// Reads a source's elements of one word: row `y`, beginning at entry `first` of the table of x.
template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Tile& tile, u32 y, u32 first) {
  input.bits = {};
//@ if numbers
  if (take_number(input, plan.source[i].first)) return;
//@ end
  if constexpr (Source<i>::y_per_load > 0) {
    const u32 row = joined ? 0 : image_row<i>(plan, y) * plan.source[i].pitch * sizeof(ImageWord<i>);
    read_image(input.bits, tile.images + plan.source[i].image + row, first);
  }
//@ if direct_sources
  if constexpr (Source<i>::y_per_load == 0) {
    const auto* from = reinterpret_cast<const SourceBits<i>*>(static_cast<const u8*>(plan.source[i].first));
    const Offset row = tile.row[y].source[i];
    const Offset* column = tile.column + i * tile.columns + first;
    SourceBits<i> loaded[word_elements];
#pragma unroll
    for (u32 k = 0; k < word_elements; ++k) {
//@ if padded
      loaded[k] = row != nowhere && column[k] != nowhere ? from[row + column[k]] : padding_bits(plan.padding);
//@ else
      loaded[k] = from[row + column[k]];
//@ end
    }
#pragma unroll
    for (u32 k = 0; k < word_elements; ++k) input.bits.set(k, loaded[k]);
  }
//@ end
}

// A thread stores one word in each of several rows, then its next word in each of these rows.
template <u32... i>
__device__ __forceinline__ void store_words(Indices<i...>, const Plan& plan, const Tile& tile) {
  u32 first = threadIdx.x;
  const u32 lane = take(plan.word_lanes, first);
  if (first >= plan.word_rows) return;
  const i32 end = static_cast<i32>(plan.x_extent);
  u8* const destination = plan.destination;
#pragma unroll 1
  for (u32 word = lane; word < plan.words; word += plan.word_lanes.divisor) {
    const u32 x = tile.x + word * word_elements;
#pragma unroll 1
    for (u32 y = first; y < tile.rows; y += stores * plan.word_rows) {
      Inputs<i...> inputs[stores];
      Offset row[stores];
#pragma unroll
      for (u32 j = 0; j < stores; ++j) {
        const u32 own = least(y + j * plan.word_rows, tile.rows - 1);
        row[j] = tile.row[own].destination;
        const u32 entry = word * word_elements + halo - position_in_word(plan, row[j] + static_cast<Offset>(x));
        (load_input<i>(inputs[j], plan, tile, own, entry), ...);
      }
#pragma unroll
      for (u32 j = 0; j < stores; ++j) {
        if (y + j * plan.word_rows >= tile.rows) continue;
        const i32 begin = static_cast<i32>(x - position_in_word(plan, row[j] + static_cast<Offset>(x)));
        u8* const to = destination + static_cast<i64>(row[j] + static_cast<Offset>(begin)) * element_bytes;
        if (begin >= 0 && begin + static_cast<i32>(word_elements) <= end) {
          store_word(to, word_of(inputs[j]));
        } else if constexpr (staggered) {
          const Word value = word_of(inputs[j]);
#pragma unroll
          for (i32 k = 0; k < static_cast<i32>(word_elements); ++k) {
            if (begin + k >= 0 && begin + k < end) reinterpret_cast<typename Word::Element*>(to)[k] = value.get(k);
          }
        }
      }
    }
  }
}

// Stores a joined tile, one contiguous run of the destination. Its first and last word may have elements of other tiles.
template <u32... i>
__device__ __forceinline__ void store_run(Indices<i...>, const Plan& plan, const Tile& tile) {
  const u32 elements_before = position_in_word(plan, tile.row[0].destination);  // elements of the first word before the tile
  const u32 end = elements_before + tile.rows * plan.x_extent;
  auto* const to = reinterpret_cast<typename Word::Element*>(static_cast<u8*>(plan.destination)) + tile.row[0].destination - elements_before;
#pragma unroll stores
  for (u32 first = threadIdx.x * word_elements; first < end; first += threads * word_elements) {
    Inputs<i...> inputs;
    (load_input<i>(inputs, plan, tile, 0, first), ...);
    const Word value = word_of(inputs);
    if (first >= elements_before && first + word_elements <= end) {
      store_word(reinterpret_cast<u8*>(to + first), value);
    } else {
#pragma unroll
      for (u32 k = 0; k < word_elements; ++k) {
        if (first + k >= elements_before && first + k < end) to[first + k] = value.get(k);
      }
    }
  }
}

__device__ __forceinline__ void move_tile(const Plan& plan) {
  extern __shared__ __align__(16) u8 shared[];
  const Tile tile = tile_of(plan, shared);
  if (tile.rows == 0) return;  // beyond the last tile along y
  write_tables(plan, tile);
  __syncthreads();
  load_images(AllSources{}, plan, tile);
  __syncthreads();
  if constexpr (joined) {
    store_run(AllSources{}, plan, tile);
  } else {
    store_words(AllSources{}, plan, tile);
  }
}

}  // namespace tmajit
