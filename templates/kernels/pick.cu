// pick: moves, pads, converts or computes to runs of the destination's memory that several dimensions make up.
//
// A CTA does some tiles, one after the other; a tile is a box over all dimensions. What it reads comes to an image in
// shared memory by whole lines of the source's memory, 16 bytes at a time. In the image an element is as far from a
// multiple of 16 bytes as it is in the source: so its place is a sum of steps, one for each dimension. Where lines, runs
// and the elements of a run lie stands in three tables, the same for all tiles that no edge cuts. Each thread picks the
// elements of one word of a run, and stores it; then the same word of other runs, which lies equally far from where they
// begin.
//@ if computes
// Each source has an image, and tables of its lines and of its elements' places; of runs there is one table. What stands
// in a word is computed from the elements that are picked for it.
//@ end
//@ if padded
// What the source does not reach of a tile is written to the image, too: lines, or the ends of lines.
//@ end
//@ # Facts of the kernel: rank, Offset, element_bytes, sources, source_bytes; if it computes, Source<i>, AllSources,
//@ # Destination and evaluate(); if it pads, Destination.
#include "tmajit/pick_image.cuh"
#include "tmajit/pick_tables.cuh"
#include "tmajit/shared.cuh"
//@ if computes
#include "tmajit/values.cuh"
//@ end

namespace tmajit {

// ---- runs ----

// Where the tile, or a run of it, begins in each image.
struct Images {
  const u8* at[sources];
};

// Which elements of a word are stored: of the words at the ends of a run not all.
struct Stored {
  u32 first;
  u32 last;  // the one after it

  // Those of word n that lie in the places `first` to `last` of a run or part.
  __device__ __forceinline__ Stored(u32 n, u32 first, u32 last) : first(in(n, first)), last(in(n, last)) {}
  __device__ __forceinline__ bool all() const { return first == 0 && last == in_word; }
  __device__ __forceinline__ bool none() const { return first >= last; }

 private:
  __device__ __forceinline__ static u32 in(u32 n, u32 at) {
    const u32 begin = n * in_word;
    return at < begin ? 0 : least(at - begin, in_word);
  }
};

// The places in each image of the elements of a word.
struct Places {
  i32 at[sources][in_word];

  // Of word n of a part, before whose first element its first word holds `before` others. One that is stored stands for
  // those that are not: the image may not hold them.
  __device__ __forceinline__ Places(const Tables& tables, u32 n, u32 before, Stored stored) {
#pragma unroll
    for (u32 s = 0; s < sources; ++s) {
      const i32* of_word = tables.place + s * tables.places + (n + 1) * in_word - 1 - before;
#pragma unroll
      for (u32 k = 0; k < in_word; ++k) {
        at[s][k] = of_word[k < stored.first ? stored.first : least(k, stored.last - 1)];
      }
    }
  }
};

using Word = Raw<element_bytes, in_word>;

// The elements that lie at these places of an image; zeros where `n` is more than a word has.
template <u32 bytes, u32 n>
__device__ __forceinline__ Raw<bytes, n> picked(const u8* image, const i32 (&place)[in_word]) {
  Raw<bytes, n> value{};
#pragma unroll
  for (u32 k = 0; k < in_word; ++k) {
    value.set(k, *reinterpret_cast<const typename Bits<bytes>::Type*>(image + place[k]));
  }
  return value;
}

//@ if computes
// Elements that are converted at once, of which a word may have only the first.
constexpr u32 at_once = in_word < 2 ? 2 : in_word;
// Words that are picked at once. Each writes the expression out once more for each of its elements.
constexpr u32 most_words = 2;

template <u32... i>
__device__ __forceinline__ Word computed(Indices<i...>, const Images& images, const Places& place) {
  AllValues<at_once, i...> values;
  (packed<typename Source<i>::Element, at_once>(
       picked<sizeof(typename Source<i>::Element), at_once>(images.at[i], place.at[i]))
       .decode(static_cast<SourceValues<i, at_once>&>(values).at),
   ...);
  Value<Destination::Element> out[at_once] = {};
#pragma unroll
  for (u32 k = 0; k < in_word; ++k) {
    out[k] = result_of(evaluate(static_cast<SourceValues<i, at_once>&>(values).at[k]...));
  }
  Pack<Destination::Element, at_once> pack;
  pack.encode(out);
  const auto all = raw<Destination::Element, at_once>(pack);
  Word word;
#pragma unroll
  for (u32 w = 0; w < word.words; ++w) word.word[w] = all.word[w];
  return word;
}

__device__ __forceinline__ Word picked_word(const Images& images, const Places& place) {
  return computed(AllSources{}, images, place);
}
//@ else
constexpr u32 most_words = 4;  // that are picked at once

__device__ __forceinline__ Word picked_word(const Images& images, const Places& place) {
  return picked<element_bytes, in_word>(images.at[0], place.at[0]);
}
//@ end

__device__ __forceinline__ void store_word(u8* to, const Word& value) {
  if constexpr (element_bytes == 8) {
    *reinterpret_cast<u64*>(to) = value.get(0);
  } else {
    *reinterpret_cast<u32*>(to) = value.word[0];
  }
}

// Some elements of a word, pairs of bytes together.
__device__ __forceinline__ void store_some(u8* to, const Word& value, Stored stored) {
  if constexpr (element_bytes == 1) {
    u32 k = stored.first;
    if (k % 2 == 1 && k < stored.last) {
      to[k] = static_cast<u8>(value.word[0] >> 8 * k);
      ++k;
    }
    if (k + 2 <= stored.last) {
      *reinterpret_cast<u16*>(to + k) = static_cast<u16>(value.word[0] >> 8 * k);
      k += 2;
    }
    if (k < stored.last) to[k] = static_cast<u8>(value.word[0] >> 8 * k);
  } else {
#pragma unroll
    for (u32 k = 0; k < in_word; ++k) {
      if (k >= stored.first && k < stored.last) reinterpret_cast<typename Word::Element*>(to)[k] = value.get(k);
    }
  }
}

// A word of the runs or parts of a chunk: where it goes, and where the images begin that it comes from.
struct Runs {
  Images images;
  u8* to;
  i32 image_step[sources];  // bytes from one run or part to the next
  Offset step;

  // The n-th after it.
  __device__ __forceinline__ Runs after(u32 n) const {
    Runs runs = *this;
#pragma unroll
    for (u32 s = 0; s < sources; ++s) runs.images.at[s] += static_cast<i32>(n) * image_step[s];
    runs.to += static_cast<Offset>(n) * step;
    return runs;
  }
};

// The same word of `count` runs or parts from `first` on: all are picked before the first is stored.
template <u32 count>
__device__ __forceinline__ void move_words(const Runs& runs, u32 first, const Places& place, Stored stored) {
  const Runs own = runs.after(first);
  Word word[count];
#pragma unroll
  for (u32 k = 0; k < count; ++k) word[k] = picked_word(own.after(k).images, place);
  if (stored.all()) {
#pragma unroll
    for (u32 k = 0; k < count; ++k) store_word(own.after(k).to, word[k]);
  } else {
#pragma unroll
    for (u32 k = 0; k < count; ++k) store_some(own.after(k).to, word[k], stored);
  }
}

// Word n of the runs or parts of a chunk. All runs store the same elements of it; of parts the first and the last may
// store others than those between them.
__device__ __forceinline__ void move_chunk(const PickTile& plan, const Tables& tables, u32 n, const Chunk& chunk,
                                           const Images& images, u8* destination) {
  Runs runs;
#pragma unroll
  for (u32 s = 0; s < sources; ++s) {
    runs.images.at[s] = images.at[s] + chunk.image[s];
    runs.image_step[s] = plan.source[s].along * static_cast<i32>(plan.every);
  }
  runs.to = destination + chunk.destination + n * word_bytes;
  runs.step = static_cast<Offset>(plan.along.step) * static_cast<Offset>(plan.every);
  const u32 count = chunk.count;
#pragma unroll 1
  for (u32 k = 0; k < count;) {
    const u32 end = plan.parts == 0 || k + 1 == count ? count : k == 0 ? 1 : count - 1;
    const Stored stored(n, k == 0 ? chunk.first : 0, end == count ? chunk.last : plan.part_elements);
    if (stored.none()) {
      k = end;
      continue;
    }
    const Places place(tables, n, chunk.before, stored);
#pragma unroll 1
    for (; k + most_words <= end; k += most_words) move_words<most_words>(runs, k, place, stored);
    if constexpr (most_words > 2) {
      if (k + 2 <= end) {
        move_words<2>(runs, k, place, stored);
        k += 2;
      }
    }
    if (k < end) move_words<1>(runs, k, place, stored);
    k = end;
  }
}

__device__ __forceinline__ void store_runs(const PickTile& plan, const Tables& tables, const Images& images,
                                           u8* destination) {
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  const u32 lanes = 1U << plan.lanes_log;
  const u32 first_word = (warp & (1U << plan.warps_log) - 1) * lanes + (lane & lanes - 1);
  const u32 first_chunk = (warp >> plan.warps_log) * (32 >> plan.lanes_log) + (lane >> plan.lanes_log);
  const u32 chunks_at_once = blockDim.x >> plan.warps_log + plan.lanes_log;
#pragma unroll 1
  for (u32 n = first_word; n < plan.words; n += lanes << plan.warps_log) {
#pragma unroll 1
    for (u32 number = first_chunk; number < plan.chunks; number += chunks_at_once) {
      move_chunk(plan, tables, n, tables.chunk[number], images, destination);
    }
  }
}

// While the CTA stores a tile, what the next one needs is on its way to the other of two images.
//@ if padded
__device__ __forceinline__ void pick_tiles(const LineViews& views, const PickTile& plan, const params::Window<rank>& window) {
//@ else
__device__ __forceinline__ void pick_tiles(const LineViews& views, const PickTile& plan) {
//@ end
  extern __shared__ __align__(16) u8 shared[];
  const Tables tables(shared + plan.images * plan.image_bytes, plan);
  const u32 first = blockIdx.x * plan.tiles_per_cta;
  const u32 count = least(plan.tiles - first, plan.tiles_per_cta);
  if (threadIdx.x < count) {
    Extent<rank> box;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) box.at[d] = plan.box[d];
    const auto below = [&](u32 s) { return plan.source[s].below; };
//@ if padded
    tables.tile[threadIdx.x] = TilePlace(views, box, below, window, first + threadIdx.x);
//@ else
    tables.tile[threadIdx.x] = TilePlace(views, box, below, first + threadIdx.x);
//@ end
  }
#pragma unroll 1
  for (u32 s = 0; s < sources; ++s) {
    write_places(plan, plan.source[s], tables.place + s * tables.places, tables.places);
  }

  // An image begins as far from a multiple of 16 bytes as the source's first line.
  const auto source_of = [&](u32 n, u32 s) { return views.source[s].first + tables.tile[n].source[s]; };
  const auto image_of = [&](u32 n, u32 s) {
    return shared + n % 2 * plan.image_bytes + plan.source[s].image +
           static_cast<u32>(reinterpret_cast<u64>(source_of(n, s))) % unit;
  };
  const auto lines_of = [&](u32 n, u32 s) {
    return tables.line + n % line_tables * plan.lines + plan.source[s].first_line;
  };
  u32 whole_lines = 0;  // a bit a table of lines: whether it is that of most tiles
  const auto load = [&](u32 n) {
    const TilePlace& tile = tables.tile[n];
    const u32 table = n % line_tables;
    if (tile.has_own_lines() || !(whole_lines >> table & 1)) {
      if (n == 1) __syncthreads();  // the first tile's lines have been read
#pragma unroll 1
      for (u32 s = 0; s < sources; ++s) write_lines(plan.source[s], lines_of(n, s), tile);
      whole_lines = whole_lines & ~(1U << table) | (tile.has_own_lines() ? 0 : 1U << table);
      __syncthreads();
    }
#pragma unroll 1
    for (u32 s = 0; s < sources; ++s) {
      load_image(plan, plan.source[s], lines_of(n, s), views.source[s], tile, tile.inner >> s & 1, source_of(n, s),
                 ptx::shared_address(image_of(n, s)));
    }
    ptx::close_async_group();
  };

  __syncthreads();
  bool whole_chunks = false;
  u32 misaligned = 0;  // bytes from a word's beginning to the tile's that the table of chunks is for
  // Each time round a tile is loaded, and the one before it is stored.
#pragma unroll 1
  for (u32 next = 0; next <= count; ++next) {
    if (next < count) load(next);
    if (next == 0) continue;
    const u32 n = next - 1;
    const TilePlace& tile = tables.tile[n];
    u8* destination = views.head.destination.first + tile.destination;
    const u32 lies = static_cast<u32>(reinterpret_cast<u64>(destination)) % word_bytes;
    if (tile.cut || !whole_chunks || lies != misaligned) {
      write_chunks(plan, tables, tile, lies);
      whole_chunks = !tile.cut;
      misaligned = lies;
    }
    if (next < count) {
      ptx::wait_async_groups<1>();
    } else {
      ptx::wait_async_groups<0>();
    }
//@ if padded
    if (tile.padded) {
      pad_image(plan, plan.source[0], lines_of(n, 0), views.source[0], tile, source_of(n, 0), image_of(n, 0), window.value);
    }
//@ end
    __syncthreads();
    Images images;
#pragma unroll
    for (u32 s = 0; s < sources; ++s) images.at[s] = image_of(n, s);
    store_runs(plan, tables, images, destination);
    if (next < count) __syncthreads();
  }
}

}  // namespace tmajit
