// pick: moves bits to runs of the destination's memory that several dimensions make up.
//
// A CTA does some tiles, one after the other; a tile is a box over all dimensions. What it reads comes to an image in
// shared memory by whole lines of the source's memory, 16 bytes at a time. In the image an element is as far from a
// multiple of 16 bytes as it is in the source: so its place is a sum of steps, one for each dimension. Where lines, runs
// and the elements of a run lie stands in three tables, the same for all tiles that no edge cuts. Each thread picks the
// elements of one word of a run, and stores it; then the same word of other runs, which lies equally far from where they
// begin.
//@ # Facts of the kernel: rank, Offset, element_bytes.
#include "tmajit/async_copy.cuh"
#include "tmajit/pick_tile.cuh"
#include "tmajit/image_unit.cuh"
#include "tmajit/raw.cuh"
#include "tmajit/shared.cuh"
#include "tmajit/view_tile.cuh"

namespace tmajit {

constexpr u32 word_bytes = element_bytes < 4 ? 4 : element_bytes;
constexpr u32 in_word = word_bytes / element_bytes;  // elements

using PickViews = params::Views<rank, 1>;
using PickTile = params::PickTile<rank>;
using Element = typename Bits<element_bytes>::Type;

// A tile of the CTA's.
struct TilePlace {
  i64 source;        // bytes from the source's first element to where the tile's first line begins
  i64 destination;   // bytes from the destination's first element to the tile's
  i32 inside[rank];  // elements that exist
  u32 cut;           // whether some do not
  u32 inner;         // whether all that is loaded is the source's

  __device__ __forceinline__ TilePlace(const PickViews& views, const PickTile& plan, u32 number) {
    Extent<rank> box;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) box.at[d] = plan.box[d];
    const Tile<rank> tile(views.head, box, number);
    source = tile.in(views.source[0]) - views.source[0].first - plan.below;
    destination = tile.in(views.head.destination) - views.head.destination.first;
    inner = is_inner(views.source[0], tile, 0);
    cut = 0;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      inside[d] = tile.inside[d];
      cut |= inside[d] < static_cast<i32>(box.at[d]);
    }
  }
};

// A line, from the tile's first.
struct Line {
  Offset source;  // bytes
  i32 image;      // `missing` where it does not exist
};
constexpr i32 missing = 0x7fffffff;

// Runs of a tile, or parts of one run, that lie alike in their words and equally far from each other. Words are those of
// memory, from the one that holds the first element of a run or part.
struct alignas(16) Chunk {
  Offset destination;  // bytes from the tile's first element to the first word of the first of them
  i32 image;           // bytes to their first element
  u16 count;           // that exist
  u8 before;           // places of the first word before the first element
  u8 first;            // the first place that the first of them stores: a word that two parts share is the later one's
  u16 last;            // the place after the last that the last of them stores
};

// What lies in shared memory after the image.
struct Tables {
  Chunk* chunk;
  TilePlace* tile;
  Line* line;
  i32* place;  // of elements 1 - in_word, 2 - in_word … of a part: what comes before it is the end of another

  __device__ __forceinline__ Tables(u8* from, const PickTile& plan) {
    chunk = reinterpret_cast<Chunk*>(from);
    tile = reinterpret_cast<TilePlace*>(chunk + plan.chunks);
    line = reinterpret_cast<Line*>(tile + plan.tiles_per_cta);
    place = reinterpret_cast<i32*>(line + plan.lines);
  }
};

// ---- the tables ----

// Bytes of the image to an index.
__device__ __forceinline__ i32 in_image(const params::Digit& digit, u32 index) {
  return static_cast<i32>(index) * digit.image + static_cast<i32>(index >> digit.skew) * static_cast<i32>(unit);
}

// Calls use(digit, index) for each digit of n.
template <class Use>
__device__ __forceinline__ void take_apart(u32 n, const params::Digit (&digits)[rank], const Use& use) {
#pragma unroll
  for (u32 k = 0; k < rank; ++k) {
    if (digits[k].count.divisor == 1) continue;
    const u32 rest = quotient(digits[k].count, n);
    use(digits[k], n - rest * digits[k].count.divisor);
    n = rest;
  }
}

__device__ __forceinline__ void write_lines(const PickTile& plan, const Tables& tables, const TilePlace& tile) {
#pragma unroll 1
  for (u32 n = threadIdx.x; n < plan.lines; n += blockDim.x) {
    Line line{0, 0};
    bool exists = true;
    take_apart(n, plan.line, [&](const params::Digit& digit, u32 index) {
      line.source += static_cast<Offset>(index) * static_cast<Offset>(digit.step);
      line.image += in_image(digit, index);
      exists = exists && static_cast<i32>(index) < tile.inside[digit.dimension];
    });
    if (!exists) line.image = missing;
    tables.line[n] = line;
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
    i32 image = index * plan.along.image;
    take_apart(rest, plan.run, [&](const params::Digit& digit, u32 at) {
      destination += static_cast<Offset>(at) * static_cast<Offset>(digit.step);
      image += in_image(digit, at);
      if (static_cast<i32>(at) >= tile.inside[digit.dimension]) count = 0;
    });
    const u32 past = (misaligned + static_cast<u32>(destination)) % word_bytes;
    const u32 before = past / element_bytes;
    const i32 left = elements - (plan.parts ? (index + count - 1) * part_elements : 0);  // from where the last begins
    Chunk chunk;
    chunk.destination = destination - static_cast<Offset>(past);
    chunk.image = image;
    chunk.count = static_cast<u16>(count > 0 ? count : 0);
    chunk.before = static_cast<u8>(before);
    chunk.first = static_cast<u8>(plan.parts && index > 0 ? 0 : before);
    chunk.last = static_cast<u16>(left > part_elements ? part_elements : left + before);
    tables.chunk[n] = chunk;
  }
}

__device__ __forceinline__ void write_places(const PickTile& plan, const Tables& tables) {
  constexpr i32 before = in_word - 1;
#pragma unroll 1
  for (u32 n = threadIdx.x; n < (plan.words + 1) * in_word; n += blockDim.x) {
    i32 element = static_cast<i32>(n) - before;
    i32 at = static_cast<i32>(plan.below);
    if (element < 0) {
      element += static_cast<i32>(plan.part_elements);
      at -= plan.along.image;
    }
    take_apart(element, plan.place, [&](const params::Digit& digit, u32 index) { at += in_image(digit, index); });
    tables.place[n] = at;
  }
}

// ---- the image ----

// Copies every 16 bytes that hold an element of the tile.
__device__ __forceinline__ void load_image(const PickTile& plan, const Tables& tables, const params::View<rank>& view,
                                           const TilePlace& tile, const u8* source, u32 image) {
  u32 length = plan.line_bytes;  // of the lines' part that exists
  if (tile.cut) {
    length = element_bytes;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) length += (tile.inside[d] - 1) * plan.reach[d];
  }
  const bool inner = tile.inner;
#pragma unroll 2
  for (u32 n = threadIdx.x; n < plan.lines * plan.units.divisor; n += blockDim.x) {
    const u32 number = quotient(plan.units, n);
    const u32 in_line = (n - number * plan.units.divisor) * unit;
    const Line line = tables.line[number];
    const u8* from = source + line.source;
    const u32 into = static_cast<u32>(reinterpret_cast<u64>(from)) % unit;
    if (line.image == missing || in_line >= into + length) continue;
    const u32 to = image + line.image + in_line - into;
    from += static_cast<i32>(in_line - into);
    if (inner) {
      ptx::copy16_async(to, from, unit);
    } else {
      copy_unit<element_bytes>(to, from, true, view, false);
    }
  }
}

// ---- runs ----

__device__ __forceinline__ Element element_at(const u8* place) {
  return *reinterpret_cast<const Element*>(place);
}

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

// The places in the image of the elements of word n of a part, before whose first element its first word holds `before`
// others. One that is stored stands for those that are not: the image may not hold them.
__device__ __forceinline__ void load_places(i32 (&place)[in_word], const Tables& tables, u32 n, u32 before, Stored stored) {
  const i32* of_word = tables.place + (n + 1) * in_word - 1 - before;
#pragma unroll
  for (u32 k = 0; k < in_word; ++k) place[k] = of_word[k < stored.first ? stored.first : least(k, stored.last - 1)];
}

using Word = Raw<element_bytes, in_word>;

__device__ __forceinline__ Word picked_word(const u8* image, const i32 (&place)[in_word]) {
  Word value{};
#pragma unroll
  for (u32 k = 0; k < in_word; ++k) value.set(k, element_at(image + place[k]));
  return value;
}

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
      if (k >= stored.first && k < stored.last) reinterpret_cast<Element*>(to)[k] = value.get(k);
    }
  }
}

// A word of the runs or parts of a chunk: where it goes, and where the image begins that it comes from.
struct Runs {
  const u8* image;
  u8* to;
  i32 image_step;  // bytes from one run or part to the next
  Offset step;
};

// The same word of `count` runs or parts from `first` on: all are picked before the first is stored.
template <u32 count>
__device__ __forceinline__ void move_words(const Runs& runs, u32 first, const i32 (&place)[in_word], Stored stored) {
  const u8* image = runs.image + static_cast<i32>(first) * runs.image_step;
  u8* to = runs.to + static_cast<Offset>(first) * runs.step;
  Word word[count];
#pragma unroll
  for (u32 k = 0; k < count; ++k) word[k] = picked_word(image + static_cast<i32>(k) * runs.image_step, place);
  if (stored.all()) {
#pragma unroll
    for (u32 k = 0; k < count; ++k) store_word(to + static_cast<Offset>(k) * runs.step, word[k]);
  } else {
#pragma unroll
    for (u32 k = 0; k < count; ++k) store_some(to + static_cast<Offset>(k) * runs.step, word[k], stored);
  }
}

// Word n of the runs or parts of a chunk. All runs store the same elements of it; of parts the first and the last may
// store others than those between them.
__device__ __forceinline__ void move_chunk(const PickTile& plan, const Tables& tables, u32 n, const Chunk& chunk,
                                           const u8* image, u8* destination) {
  const Runs runs{image + chunk.image, destination + chunk.destination + n * word_bytes,
                  plan.along.image * static_cast<i32>(plan.every),
                  static_cast<Offset>(plan.along.step) * static_cast<Offset>(plan.every)};
  const u32 count = chunk.count;
#pragma unroll 1
  for (u32 k = 0; k < count;) {
    const u32 end = plan.parts == 0 || k + 1 == count ? count : k == 0 ? 1 : count - 1;
    const Stored stored(n, k == 0 ? chunk.first : 0, end == count ? chunk.last : plan.part_elements);
    if (stored.none()) {
      k = end;
      continue;
    }
    i32 place[in_word];
    load_places(place, tables, n, chunk.before, stored);
#pragma unroll 1
    for (; k + 4 <= end; k += 4) move_words<4>(runs, k, place, stored);
    if (k + 2 <= end) {
      move_words<2>(runs, k, place, stored);
      k += 2;
    }
    if (k < end) move_words<1>(runs, k, place, stored);
    k = end;
  }
}

__device__ __forceinline__ void store_runs(const PickTile& plan, const Tables& tables, const u8* image, u8* destination) {
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
      move_chunk(plan, tables, n, tables.chunk[number], image, destination);
    }
  }
}

// While the CTA stores a tile, what the next one needs is on its way to the other of two images.
__device__ __forceinline__ void pick_tiles(const PickViews& views, const PickTile& plan) {
  extern __shared__ __align__(16) u8 shared[];
  const params::View<rank>& view = views.source[0];
  const Tables tables(shared + plan.images * plan.image_bytes, plan);
  const u32 first = blockIdx.x * plan.tiles_per_cta;
  const u32 count = least(plan.tiles - first, plan.tiles_per_cta);
  if (threadIdx.x < count) tables.tile[threadIdx.x] = TilePlace(views, plan, first + threadIdx.x);
  write_places(plan, tables);

  // An image begins as far from a multiple of 16 bytes as the source's first line.
  const auto source_of = [&](u32 n) { return view.first + tables.tile[n].source; };
  const auto image_of = [&](u32 n) {
    return shared + n % 2 * plan.image_bytes + static_cast<u32>(reinterpret_cast<u64>(source_of(n))) % unit;
  };
  bool whole_lines = false;  // the table of lines is that of tiles that no edge cuts
  const auto load = [&](u32 n) {
    const TilePlace& tile = tables.tile[n];
    if (tile.cut || !whole_lines) {
      if (n == 1) __syncthreads();  // the first tile's lines have been read
      write_lines(plan, tables, tile);
      whole_lines = !tile.cut;
      __syncthreads();
    }
    load_image(plan, tables, view, tile, source_of(n), ptx::shared_address(image_of(n)));
    ptx::close_async_group();
  };

  __syncthreads();
  load(0);
  bool whole_chunks = false;
  u32 misaligned = 0;  // bytes from a word's beginning to the tile's that the table of chunks is for
#pragma unroll 1
  for (u32 n = 0; n < count; ++n) {
    if (n + 1 < count) load(n + 1);
    const TilePlace& tile = tables.tile[n];
    u8* destination = views.head.destination.first + tile.destination;
    const u32 lies = static_cast<u32>(reinterpret_cast<u64>(destination)) % word_bytes;
    if (tile.cut || !whole_chunks || lies != misaligned) {
      write_chunks(plan, tables, tile, lies);
      whole_chunks = !tile.cut;
      misaligned = lies;
    }
    if (n + 1 < count) {
      ptx::wait_async_groups<1>();
    } else {
      ptx::wait_async_groups<0>();
    }
    __syncthreads();
    store_runs(plan, tables, image_of(n), destination);
    if (n + 1 < count) __syncthreads();
  }
}

}  // namespace tmajit
