// The tables by which a `pick` kernel works: its tiles, the lines of their sources, runs, and the places of elements.
//@ # Facts of the kernel: those of pick.cu.
#pragma once
#include "tmajit/line_tile.cuh"
#include "tmajit/pick_tile.cuh"
#include "tmajit/raw.cuh"

namespace tmajit {

constexpr u32 word_bytes = element_bytes < 4 ? 4 : element_bytes;
constexpr u32 in_word = word_bytes / element_bytes;  // elements

using PickTile = params::PickTile<rank, sources>;
using PickSource = params::PickSource<rank>;

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

}  // namespace tmajit
