// Images in shared memory of sources that are contiguous along another dimension than the destination's row.
//@ # Facts of the kernel: those of chunks.cuh, box, chunk_index, threads, staggered and Source<i>.
#pragma once
#include "tmajit/async_copy.cuh"
#include "tmajit/chunk_sources.cuh"
#include "tmajit/image_unit.cuh"
#include "tmajit/shared.cuh"

namespace tmajit {

constexpr u32 before = staggered ? chunk : 0;  // elements of a row before the tile that an image holds

// Along the row, `skew` unused bytes follow each `chunk` lines of an image, so that the chunks of a warp lie in different banks.

template <class From>
__device__ constexpr u32 units_in_image() {
  u32 count = From::pitch / unit;
  for (u32 d = 0; d < rank; ++d) count *= From::lines().at[d];
  return count;
}

// Copies every 16-byte unit that holds an element of the tile, line by line in the order of the source's memory; units
// outside the source become zeros. A line keeps its offset within a unit.
template <class From>
__device__ __forceinline__ void load_image(const params::View<rank>& view, const Tile<rank>& tile, u32 image) {
  if constexpr (From::is_image) {
    constexpr u32 line_units = From::pitch / unit;
    constexpr u32 outer = From::outer;  // the outermost of the dimensions that a line spans
    const u32 missing = tile.origin[row] == 0 ? before : 0;  // all other tiles begin at least a chunk after the row's start
    const auto begin = [&](u32 d) { return d == row ? missing : 0; };
    const auto end = [&](u32 d) { return tile.inside[d] + static_cast<i32>(d == row ? before : 0); };

    const i32 first = begin(outer) * From::image_step().at[outer];
    const i32 last = end(outer) * static_cast<i32>(From::image_step().at[outer]);
    const u8* source = tile.in(view) - before * view.step[row];
    const bool inner = is_inner(view, tile, before);
    u32 line = threadIdx.x / line_units;
    u32 in_line = threadIdx.x % line_units;
#pragma unroll 2
    for (u32 n = threadIdx.x; n < units_in_image<From>(); n += threads) {
      u32 to = image + From::image + in_line * unit;
      const u8* from = source;
      bool exists = true;
      u32 index[rank];
      From::line_index(line, index);
#pragma unroll
      for (u32 d = 0; d < rank; ++d) {
        if (From::lines().at[d] == 1) continue;
        from += static_cast<Offset>(index[d]) * static_cast<Offset>(view.step[d]);
        to += index[d] * From::image_step().at[d] + (d == row ? index[d] / chunk * From::skew : 0);
        exists = exists && index[d] >= begin(d) && static_cast<i32>(index[d]) < end(d);
      }
      const u32 line_offset = static_cast<u32>(reinterpret_cast<u64>(from)) % unit;  // of the line in its first unit
      const i32 byte = static_cast<i32>(in_line * unit - line_offset);  // within the line
      exists = exists && byte < last && byte + static_cast<i32>(unit) > first;
      copy_unit<sizeof(typename From::Element)>(to, from + byte, exists, view, inner);
      line += threads / line_units;
      in_line += threads % line_units;
      if (in_line >= line_units) {
        in_line -= line_units;
        ++line;
      }
    }
  }
}

// The chunk's elements are in the source's image.
struct Imaged {
  template <class From>
  static __device__ __forceinline__ void load(SourceChunk<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                              u32, u32, const u8* shared) {
    const u32 line = own.at[row] + before;
    const u8* at = shared + From::image + line * From::image_step().at[row];
    if constexpr (!From::row_in_line) at += line / chunk * From::skew;
    // The offset of the first line within its 16-byte unit, in memory and in the image.
    u32 begin = static_cast<u32>(reinterpret_cast<u64>(tile)) + (From::row_in_line ? -before : own.at[row]) * static_cast<u32>(view.step[row]);
#pragma unroll
    for (u32 d = 0; d < row; ++d) {
      at += own.at[d] * From::image_step().at[d];
      if (From::lines().at[d] > 1) begin += own.at[d] * static_cast<u32>(view.step[d]);
    }
#pragma unroll
    for (u32 k = 0; k < chunk; ++k) {
      const u8* element = at + k * From::image_step().at[row];
      if (staggered && !From::row_in_line && line % chunk + k >= chunk) element += From::skew;
      element += (From::row_in_line ? begin : begin + k * static_cast<u32>(view.step[row])) % unit;
      out.set(k, *reinterpret_cast<const typename SourceChunk<From>::Element*>(element));
    }
  }
};

__device__ constexpr u32 chunks(u32 d) {
  return d == row ? box().at[d] / chunk : box().at[d];
}
__device__ constexpr u32 chunks_in_tile() {
  u32 count = 1;
  for (u32 d = 0; d < rank; ++d) count *= chunks(d);
  return count;
}

__device__ __forceinline__ Chunk locate(const params::ViewsHead<rank>& views, const Tile<rank>& tile, u8* destination, u32 n) {
  u32 index[rank];
  chunk_index(n, index);
  return chunk_at(views, tile, destination, index, n < chunks_in_tile());
}

}  // namespace tmajit
