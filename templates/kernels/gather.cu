// gather: moves bits to runs of the destination's memory that several dimensions make up, most of them short.
//
// A CTA does one tile, a box over all dimensions. What it reads comes to an image in shared memory by whole
// lines of the source's memory, 16 bytes at a time. In the image an element is as far from a multiple of 16
// bytes as it is in the source: so its place is a sum of steps, one for each dimension. A table holds the
// places of a run's elements, or, where runs are long, of one of the parts that they repeat. A warp stores
// `slots_along` vectors of each of several runs or parts, every thread one, which it picks from the image element
// by element.
//@ # Facts of the kernel: rank, threads, box, Offset, element_bytes, run_dimension, run_elements, inner, runs, run_index,
//@ # same_alignment, aligned, parts, part_step, slots, slots_along, warps_along, place_pitch, places, place, below,
//@ # aligned_lines, line_bytes, line_units, line_count, line_index, line_reach, image_step, skewed, skew_every, image_bytes.
#include "tmajit/async_copy.cuh"
#include "tmajit/image_unit.cuh"
#include "tmajit/raw.cuh"
#include "tmajit/shared.cuh"
#include "tmajit/view_tile.cuh"

namespace tmajit {

constexpr u32 chunk = 16 / element_bytes;  // elements that go to the destination at once

using GatherViews = params::Views<rank, 1>;
using Element = typename Bits<element_bytes>::Type;
using Chunk = Raw<element_bytes, chunk>;

// Where the line or run with this index begins in the image.
__device__ __forceinline__ i32 in_image(const u32 (&index)[rank]) {
  i32 at = 0;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) {
    at += static_cast<i32>(index[d]) * image_step().at[d];
    if (d == skewed) at += index[d] / skew_every * unit;
  }
  return at;
}

// ---- the image ----

// Bytes from a multiple of 16 to the tile's first byte of the source, and to its place in the image.
__device__ __forceinline__ u32 skip_of(const u8* source) {
  return aligned_lines ? 0 : static_cast<u32>(reinterpret_cast<u64>(source)) % unit;
}

// Where a unit is the first of a line, its first byte is an element's.
constexpr bool lines_begin_inside = aligned_lines && below == 0;

// Copies every 16 bytes that hold an element of the tile, and zeros for those that hold none.
__device__ __forceinline__ void load_image(const params::View<rank>& view, const Tile<rank>& tile, const u8* source, u32 image) {
  i32 length = element_bytes;  // of the lines' part that exists
#pragma unroll
  for (u32 d = 0; d < rank; ++d) length += (tile.inside[d] - 1) * static_cast<i32>(line_reach().at[d]);
#pragma unroll 2
  for (u32 n = threadIdx.x; n < line_count * line_units; n += threads) {
    const u32 in_line = n % line_units * unit;
    u32 index[rank];
    line_index(n / line_units, index);
    const u8* from = source;
    bool exists = true;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      from += static_cast<Offset>(index[d]) * static_cast<Offset>(view.step[d]);
      exists = exists && static_cast<i32>(index[d]) < tile.inside[d];
    }
    const u32 into = skip_of(from);
    if (in_line >= into + line_bytes) continue;  // here the next line may begin
    exists = exists && in_line < into + length;
    const u32 to = skip_of(source) + in_image(index) - into + in_line;
    copy_unit<element_bytes, rank, lines_begin_inside>(image + to, from + static_cast<i32>(in_line - into), exists, view,
                                                       false);
  }
}

// ---- the table ----

// Entry `slot`, `k` of the table is for element `slot * chunk + k - before` of a run or of a part of one: what
// comes before a part is the end of another.
__device__ __forceinline__ void write_places(i16* table, i32 before) {
  constexpr i32 part_elements = slots * chunk;
#pragma unroll 1
  for (u32 n = threadIdx.x; n < places; n += threads) {
    const i32 element = static_cast<i32>(n) - before;
    i32 at = 0;
    if (element >= 0) {
      if (element < static_cast<i32>(run_elements)) at = place(element);
    } else if constexpr (parts > 1) {
      at = place(element + part_elements) - part_step;
    }
    table[n / chunk * place_pitch + n % chunk] = static_cast<i16>(at);
  }
}

struct Places {
  i32 at[chunk];
  __device__ __forceinline__ void load(const i16* table) {
#pragma unroll
    for (u32 k = 0; k < chunk; ++k) at[k] = table[k];
  }
};

// ---- runs ----

// How many elements before `run` the vector begins that holds its first.
__device__ __forceinline__ u32 elements_before(const u8* run) {
  return aligned ? 0 : static_cast<u32>(reinterpret_cast<u64>(run)) % unit / element_bytes;
}

// Elements `first` to `last` of a vector, one by one: at the ends of a run.
__device__ __forceinline__ void store_end(u8* to, const u8* image, const i16* table, i32 first, i32 last) {
#pragma unroll 1
  for (i32 k = first; k < last; ++k) {
    reinterpret_cast<Element*>(to)[k] = *reinterpret_cast<const Element*>(image + table[k]);
  }
}

__device__ __forceinline__ void gather_tile(const GatherViews& views) {
  extern __shared__ __align__(16) u8 shared[];
  const Tile<rank> tile(views.head, box());
  const u8* source = tile.in(views.source[0]) - below;
  u8* destination = tile.in(views.head.destination);
  load_image(views.source[0], tile, source, ptx::shared_address(shared));
  i16* table = reinterpret_cast<i16*>(shared + image_bytes);
  write_places(table, same_alignment ? elements_before(destination) : chunk);
  ptx::wait_async_copies();
  __syncthreads();

  constexpr u32 warps = threads / 32;
  constexpr u32 runs_along = 32 / slots_along;  // of a warp
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  const u8* image = shared + skip_of(source);
  const i32 elements = tile.inside[run_dimension] * static_cast<i32>(inner);  // of a run
#pragma unroll 1
  for (u32 slot = warp % warps_along * slots_along + lane % slots_along; slot < slots; slot += warps_along * slots_along) {
    const i16* own = table + slot * place_pitch;
    Places from;
    if constexpr (same_alignment) from.load(own);
#pragma unroll 1
    for (u32 n = warp / warps_along * runs_along + lane / slots_along; n < runs * parts;
         n += warps / warps_along * runs_along) {
      const u32 part = n % parts;
      u32 index[rank];
      run_index(n / parts, index);
      u8* to = destination;
      bool exists = true;
#pragma unroll
      for (u32 d = 0; d < rank; ++d) {
        to += static_cast<Offset>(index[d]) * static_cast<Offset>(views.head.destination.step[d]);
        exists = exists && static_cast<i32>(index[d]) < tile.inside[d];
      }
      const u32 before = elements_before(to);
      const i32 first = static_cast<i32>((part * slots + slot) * chunk - before);
      if (!exists || first >= elements) continue;
      const i16* places_of = same_alignment ? own : own + chunk - before;
      const u8* at = image + in_image(index) + static_cast<i32>(part) * part_step;
      to += first * static_cast<i32>(element_bytes);
      const i32 left = elements - first;
      if (first < 0 || left < static_cast<i32>(chunk)) {
        store_end(to, at, places_of, first < 0 ? -first : 0, left < static_cast<i32>(chunk) ? left : chunk);
        continue;
      }
      if constexpr (!same_alignment) from.load(places_of);
      Chunk value{};
#pragma unroll
      for (u32 k = 0; k < chunk; ++k) value.set(k, *reinterpret_cast<const Element*>(at + from.at[k]));
      store16(to, {{value.word[0], value.word[1], value.word[2], value.word[3]}});
    }
  }
}

}  // namespace tmajit
