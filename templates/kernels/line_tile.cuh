// Tiles whose source comes to shared memory by whole lines of its memory, 16 bytes at a time.
//@ # Facts of the kernel: rank, sources. `padded`: a source does not reach all of the destination.
#pragma once
#include "tmajit/async_copy.cuh"
#include "tmajit/image_unit.cuh"
#include "tmajit/view_tile.cuh"

namespace tmajit {

using LineViews = params::Views<rank, sources>;

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
  u32 inner;  // a bit a source: whether all units that hold an element lie in its own memory

  // `below(s)`: bytes of source s's first line before the tile's first element.
//@ if padded
  template <class Below>
  __device__ __forceinline__ TilePlace(const LineViews& views, const Extent<rank>& box, const Below& below,
                                       const params::Window<rank>& window, u32 number) {
//@ else
  template <class Below>
  __device__ __forceinline__ TilePlace(const LineViews& views, const Extent<rank>& box, const Below& below, u32 number) {
//@ end
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
      source[s] = tile.in(view) - view.first - below(s);
      if (is_inner(view, loaded, 0)) inner |= 1U << s;
    }
    cut = 0;
//@ each d
    inside[d] = tile.inside[d];
    cut |= inside[d] < static_cast<i32>(box.at[d]);
//@ end
  }

//@ used has
  // Whether an index exists.
  __device__ __forceinline__ bool has(const u32 (&index)[rank]) const {
    bool all = true;
//@ each d
    all &= static_cast<i32>(index[d]) < inside[d];
//@ end
    return all;
  }

//@ end
//@ if padded
  // Where in the tile an index of the destination is, or the nearest that exists.
  __device__ __forceinline__ static i32 reached(i64 index, const Tile<rank>& tile, u32 d) {
    const i64 at = index - static_cast<i64>(tile.origin[d]);
    return static_cast<i32>(at < 0 ? 0 : at < tile.inside[d] ? at : tile.inside[d]);
  }
  // Whether the tile's lines are other than those of most tiles.
  __device__ __forceinline__ bool has_own_lines() const { return (cut | padded) != 0; }
//@ else
//@ used has_own_lines
  // Whether the tile's lines are other than those of most tiles.
  __device__ __forceinline__ bool has_own_lines() const { return cut != 0; }
//@ end
//@ end
};

// What is loaded of a line, in bytes from where it begins.
struct LinePart {
  i32 begin;
  i32 end;
};

// Copies the 16 bytes that are `in_line` bytes after the multiple of 16 at or before a line's beginning, if they hold
// any of the part that is loaded. The line begins at `image` in shared memory. With `beyond` the part may end beyond the
// source's memory.
template <u32 bytes, bool beyond>
__device__ __forceinline__ void copy_of_line(u32 image, const u8* line, u32 in_line, LinePart part,
                                             const params::View<rank>& view, bool inner) {
  const u32 into = static_cast<u32>(reinterpret_cast<u64>(line)) % unit;
  const i32 at = static_cast<i32>(in_line - into);
  if (at >= part.end) return;
//@ if padded
  if (at + static_cast<i32>(unit) <= part.begin) return;
//@ end
  const u8* from = line + at;
  if (inner) {
    ptx::copy16_async(image + at, from, unit);
  } else {
    copy_unit<bytes>(image + at, from, !beyond || from < view.high, view, false);
  }
}

}  // namespace tmajit
