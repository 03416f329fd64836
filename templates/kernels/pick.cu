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
#include "tmajit/async_copy.cuh"
#include "tmajit/pick_tile.cuh"
#include "tmajit/image_unit.cuh"
#include "tmajit/raw.cuh"
#include "tmajit/shared.cuh"
//@ if computes
#include "tmajit/values.cuh"
//@ end
//@ if padded
#include "tmajit/values.cuh"
//@ end
#include "tmajit/view_tile.cuh"

namespace tmajit {

constexpr u32 word_bytes = element_bytes < 4 ? 4 : element_bytes;
constexpr u32 in_word = word_bytes / element_bytes;  // elements

using PickViews = params::Views<rank, sources>;
using PickTile = params::PickTile<rank, sources>;
using PickSource = params::PickSource<rank>;

// A tile of the CTA's.
struct TilePlace {
  i64 source[sources];  // bytes from a source's first element to where the tile's first line begins
  i64 destination;      // bytes from the destination's first element to the tile's
  i32 inside[rank];     // elements that exist
//@ if padded
  i32 first[rank];  // of those that the source reaches
  i32 end[rank];
  u32 padded;  // whether it does not reach some
  u32 empty;   // or any
//@ end
  u32 cut;    // whether some do not exist
  u32 inner;  // a bit a source: whether all that is loaded is its own

//@ if padded
  __device__ __forceinline__ TilePlace(const PickViews& views, const PickTile& plan, const params::Window<rank>& window,
                                       u32 number) {
//@ else
  __device__ __forceinline__ TilePlace(const PickViews& views, const PickTile& plan, u32 number) {
//@ end
    Extent<rank> box;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) box.at[d] = plan.box[d];
    const Tile<rank> tile(views.head, box, number);
    destination = tile.in(views.head.destination) - views.head.destination.first;
//@ if padded
    Tile<rank> loaded = tile;
    padded = 0;
    empty = 0;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      first[d] = reached(window.first[d], tile, d);
      end[d] = reached(window.end[d], tile, d);
      loaded.origin[d] += first[d];
      loaded.inside[d] = end[d] - first[d];
      padded |= loaded.inside[d] < tile.inside[d];
      empty |= loaded.inside[d] <= 0;
    }
//@ else
    const Tile<rank>& loaded = tile;
//@ end
    inner = 0;
#pragma unroll
    for (u32 s = 0; s < sources; ++s) {
      const params::View<rank>& view = views.source[s];
      source[s] = tile.in(view) - view.first - plan.source[s].below;
      if (is_inner(view, loaded, 0)) inner |= 1U << s;
    }
    cut = 0;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      inside[d] = tile.inside[d];
      cut |= inside[d] < static_cast<i32>(box.at[d]);
    }
  }

//@ if padded
  // Where in the tile an index of the destination is, or the nearest that exists.
  __device__ __forceinline__ static i32 reached(i64 index, const Tile<rank>& tile, u32 d) {
    const i64 at = index - static_cast<i64>(tile.origin[d]);
    return static_cast<i32>(at < 0 ? 0 : at < tile.inside[d] ? at : tile.inside[d]);
  }
  // Whether the tile's lines are other than those of most tiles.
  __device__ __forceinline__ bool has_own_lines() const { return (cut | padded) != 0; }
//@ else
  // Whether the tile's lines are other than those of most tiles.
  __device__ __forceinline__ bool has_own_lines() const { return cut != 0; }
//@ end
};

// A line, from the tile's first.
struct Line {
  Offset source;  // bytes
  i32 image;      // `missing` where it does not exist
};
constexpr i32 missing = 0x7fffffff;
//@ if padded
constexpr i32 padding = 1 << 30;  // added where no element of it is the source's
//@ end

// Runs of a tile, or parts of one run, that lie alike in their words and equally far from each other. Words are those of
// memory, from the one that holds the first element of a run or part.
struct alignas(16) Chunk {
  Offset destination;  // bytes from the tile's first element to the first word of the first of them
  i32 image[sources];  // bytes to their first element
  u16 count;           // that exist
  u8 before;           // places of the first word before the first element
  u8 first;            // the first place that the first of them stores: a word that two parts share is the later one's
  u16 last;            // the place after the last that the last of them stores
};

//@ if padded
constexpr u32 line_tables = 2;  // a tile's lines are looked up again when those of the next are there
//@ else
constexpr u32 line_tables = 1;
//@ end

// What lies in shared memory after the images.
struct Tables {
  Chunk* chunk;
  TilePlace* tile;
  Line* line;
  i32* place;  // of elements 1 - in_word, 2 - in_word … of a part: what comes before it is the end of another
  u32 places;  // of a source

  __device__ __forceinline__ Tables(u8* from, const PickTile& plan) {
    chunk = reinterpret_cast<Chunk*>(from);
    tile = reinterpret_cast<TilePlace*>(chunk + plan.chunks);
    line = reinterpret_cast<Line*>(tile + plan.tiles_per_cta);
    place = reinterpret_cast<i32*>(line + line_tables * plan.lines);
    places = (plan.words + 1) * in_word;
  }
};

// ---- the tables ----

// Bytes of the image to an index.
__device__ __forceinline__ i32 in_image(const params::ImageStep& step, u32 index) {
  return static_cast<i32>(index) * step.bytes + static_cast<i32>(index >> step.skew) * static_cast<i32>(unit);
}

// Calls use(k, index) for each digit k of n.
template <class Use>
__device__ __forceinline__ void take_apart(u32 n, const params::Digit (&digits)[rank], const Use& use) {
#pragma unroll
  for (u32 k = 0; k < rank; ++k) {
    if (digits[k].count.divisor == 1) continue;
    const u32 rest = quotient(digits[k].count, n);
    use(k, n - rest * digits[k].count.divisor);
    n = rest;
  }
}

__device__ __forceinline__ void write_lines(const PickSource& source, Line* lines, const TilePlace& tile) {
#pragma unroll 1
  for (u32 n = threadIdx.x; n < source.lines; n += blockDim.x) {
    Line line{0, 0};
    bool exists = true;
//@ if padded
    bool reached = tile.empty == 0;
//@ end
    take_apart(n, source.line, [&](u32 k, u32 index) {
      const params::Digit& digit = source.line[k];
      line.source += static_cast<Offset>(index) * static_cast<Offset>(digit.step);
      line.image += in_image(source.in_line[k], index);
      exists = exists && static_cast<i32>(index) < tile.inside[digit.dimension];
//@ if padded
      const i32 at = static_cast<i32>(index);
      reached = reached && at >= tile.first[digit.dimension] && at < tile.end[digit.dimension];
//@ end
    });
//@ if padded
    if (!reached) line.image += padding;
//@ end
    if (!exists) line.image = missing;
    lines[n] = line;
  }
}

// `misaligned`: bytes from a multiple of a word's to the tile's first element.
__device__ __forceinline__ void write_chunks(const PickTile& plan, const Tables& tables, const TilePlace& tile,
                                             u32 misaligned) {
  const i32 elements = tile.inside[plan.run_dimension] * static_cast<i32>(plan.inner);  // of a run
  const i32 part_elements = static_cast<i32>(plan.part_elements);
#pragma unroll 1
  for (u32 n = threadIdx.x; n < plan.chunks; n += blockDim.x) {
    const u32 rest = quotient(plan.along.count, n);
    const u32 number = n - rest * plan.along.count.divisor;
    // The first index, and how many there are from it on, `every` apart.
    const i32 index = (number / plan.every * plan.chunk * plan.every) + number % plan.every;
    const i32 all = plan.parts ? (elements + part_elements - 1) / part_elements : tile.inside[plan.along.dimension];
    i32 count = (all - index + static_cast<i32>(plan.every) - 1) / static_cast<i32>(plan.every);
    count = count < static_cast<i32>(plan.chunk) ? count : static_cast<i32>(plan.chunk);

    auto destination = static_cast<Offset>(index) * static_cast<Offset>(plan.along.step);
    i32 image[sources];
#pragma unroll
    for (u32 s = 0; s < sources; ++s) image[s] = index * plan.source[s].along;
    take_apart(rest, plan.run, [&](u32 k, u32 at) {
      destination += static_cast<Offset>(at) * static_cast<Offset>(plan.run[k].step);
#pragma unroll
      for (u32 s = 0; s < sources; ++s) image[s] += in_image(plan.source[s].run[k], at);
      if (static_cast<i32>(at) >= tile.inside[plan.run[k].dimension]) count = 0;
    });
    const u32 past = (misaligned + static_cast<u32>(destination)) % word_bytes;
    const u32 before = past / element_bytes;
    const i32 left = elements - (plan.parts ? (index + count - 1) * part_elements : 0);  // from where the last begins
    Chunk chunk;
    chunk.destination = destination - static_cast<Offset>(past);
#pragma unroll
    for (u32 s = 0; s < sources; ++s) chunk.image[s] = image[s];
    chunk.count = static_cast<u16>(count > 0 ? count : 0);
    chunk.before = static_cast<u8>(before);
    chunk.first = static_cast<u8>(plan.parts && index > 0 ? 0 : before);
    chunk.last = static_cast<u16>(left > part_elements ? part_elements : left + before);
    tables.chunk[n] = chunk;
  }
}

__device__ __forceinline__ void write_places(const PickTile& plan, const PickSource& source, i32* places, u32 count) {
  constexpr i32 before = in_word - 1;
#pragma unroll 1
  for (u32 n = threadIdx.x; n < count; n += blockDim.x) {
    i32 element = static_cast<i32>(n) - before;
    i32 at = static_cast<i32>(source.below);
    if (element < 0) {
      element += static_cast<i32>(plan.part_elements);
      at -= source.along;
    }
    take_apart(element, plan.place, [&](u32 k, u32 index) { at += in_image(source.place[k], index); });
    places[n] = at;
  }
}

// ---- the image ----

// What is loaded of each line that the tile has.
struct LinePart {
  i32 begin;
  i32 end;

  __device__ __forceinline__ LinePart(const PickTile& plan, const PickSource& source, const params::View<rank>& view,
                                      const TilePlace& tile) {
    begin = 0;
    end = static_cast<i32>(source.line_bytes);
    if (!tile.has_own_lines()) return;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
//@ if padded
      const i32 before = tile.first[d];
      const i32 behind = static_cast<i32>(plan.box[d]) - tile.end[d];
      const bool backwards = view.step[d] < 0;
      begin += (backwards ? behind : before) * source.reach[d];
      end -= (backwards ? before : behind) * source.reach[d];
//@ else
      end -= (static_cast<i32>(plan.box[d]) - tile.inside[d]) * source.reach[d];
//@ end
    }
  }
};

// Copies every 16 bytes that hold an element of the tile.
__device__ __forceinline__ void load_image(const PickTile& plan, const PickSource& source, const Line* lines,
                                           const params::View<rank>& view, const TilePlace& tile, bool inner,
                                           const u8* first, u32 image) {
  const LinePart part(plan, source, view, tile);
#pragma unroll 2
  for (u32 n = threadIdx.x; n < source.lines * source.units.divisor; n += blockDim.x) {
    const u32 number = quotient(source.units, n);
    const u32 in_line = (n - number * source.units.divisor) * unit;
    const Line line = lines[number];
    const u8* from = first + line.source;
    const u32 into = static_cast<u32>(reinterpret_cast<u64>(from)) % unit;
    const i32 at = static_cast<i32>(in_line - into);
    if (line.image == missing || at >= part.end) continue;
//@ if padded
    if (line.image >= padding || at + static_cast<i32>(unit) <= part.begin) continue;
//@ end
    const u32 to = image + line.image + at;
    from += at;
    if (inner) {
      ptx::copy16_async(to, from, unit);
    } else {
      copy_unit<source_bytes>(to, from, true, view, false);
    }
  }
}

//@ if padded
// Writes what surrounds the source to the image. A thread does the 16 bytes that it had copied: none of them are still
// on their way.
__device__ __forceinline__ void pad_image(const PickTile& plan, const PickSource& source, const Line* lines,
                                          const params::View<rank>& view, const TilePlace& tile, const u8* first,
                                          u8* image, double value) {
  const LinePart part(plan, source, view, tile);
  using Element = typename Bits<element_bytes>::Type;
  const Element around = padding_bits(value);
  Raw<element_bytes, unit / element_bytes> all{};
#pragma unroll
  for (u32 k = 0; k < unit / element_bytes; ++k) all.set(k, around);
#pragma unroll 1
  for (u32 n = threadIdx.x; n < source.lines * source.units.divisor; n += blockDim.x) {
    const u32 number = quotient(source.units, n);
    const u32 in_line = (n - number * source.units.divisor) * unit;
    const Line line = lines[number];
    const u32 into = static_cast<u32>(reinterpret_cast<u64>(first + line.source)) % unit;
    const i32 at = static_cast<i32>(in_line - into);
    if (line.image == missing || at >= static_cast<i32>(source.line_bytes)) continue;
    const bool reached = line.image < padding;
    u8* to = image + (line.image & padding - 1) + at;
    if (!reached || at >= part.end || at + static_cast<i32>(unit) <= part.begin) {
      store16(to, {{all.word[0], all.word[1], all.word[2], all.word[3]}});
    } else if (at < part.begin || at + static_cast<i32>(unit) > part.end) {
#pragma unroll 1
      for (i32 k = 0; k < static_cast<i32>(unit); k += element_bytes) {
        if (at + k < part.begin || at + k >= part.end) *reinterpret_cast<Element*>(to + k) = around;
      }
    }
  }
}

//@ end
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
__device__ __forceinline__ void pick_tiles(const PickViews& views, const PickTile& plan, const params::Window<rank>& window) {
//@ else
__device__ __forceinline__ void pick_tiles(const PickViews& views, const PickTile& plan) {
//@ end
  extern __shared__ __align__(16) u8 shared[];
  const Tables tables(shared + plan.images * plan.image_bytes, plan);
  const u32 first = blockIdx.x * plan.tiles_per_cta;
  const u32 count = least(plan.tiles - first, plan.tiles_per_cta);
//@ if padded
  if (threadIdx.x < count) tables.tile[threadIdx.x] = TilePlace(views, plan, window, first + threadIdx.x);
//@ else
  if (threadIdx.x < count) tables.tile[threadIdx.x] = TilePlace(views, plan, first + threadIdx.x);
//@ end
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
