// How a `pick` kernel's images are filled: by lines of a source, and by what surrounds a padded one.
//@ # Facts of the kernel: those of pick.cu.
#pragma once
#include "tmajit/line_tile.cuh"
#include "tmajit/pick_tables.cuh"
//@ if padded
#include "tmajit/values.cuh"
//@ end

namespace tmajit {

// What is loaded of each line that the tile has.
__device__ __forceinline__ LinePart part_of_lines(const PickTile& plan, const PickSource& source,
                                                  const params::View<rank>& view, const TilePlace& tile) {
  LinePart part{0, static_cast<i32>(source.line_bytes)};
  if (!tile.has_own_lines()) return part;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) {
//@ if padded
    const i32 before = tile.first[d];
    const i32 behind = static_cast<i32>(plan.box[d]) - tile.end[d];
    const bool backwards = view.step[d] < 0;
    part.begin += (backwards ? behind : before) * source.reach[d];
    part.end -= (backwards ? before : behind) * source.reach[d];
//@ else
    part.end -= (static_cast<i32>(plan.box[d]) - tile.inside[d]) * source.reach[d];
//@ end
  }
  return part;
}

// Copies every 16 bytes that hold an element of the tile.
__device__ __forceinline__ void load_image(const PickTile& plan, const PickSource& source, const Line* lines,
                                           const params::View<rank>& view, const TilePlace& tile, bool inner,
                                           const u8* first, u32 image) {
  const LinePart part = part_of_lines(plan, source, view, tile);
#pragma unroll 2
  for (u32 n = threadIdx.x; n < source.lines * source.units.divisor; n += blockDim.x) {
    const u32 number = quotient(source.units, n);
    const u32 in_line = (n - number * source.units.divisor) * unit;
    const Line line = lines[number];
//@ if padded
    if (line.image >= padding) continue;  // or missing
//@ else
    if (line.image == missing) continue;
//@ end
    copy_of_line<source_bytes, false>(image + line.image, first + line.source, in_line, part, view, inner);
  }
}

//@ if padded
// Writes what surrounds the source to the image. A thread does the 16 bytes that it had copied: none of them are still
// on their way.
__device__ __forceinline__ void pad_image(const PickTile& plan, const PickSource& source, const Line* lines,
                                          const params::View<rank>& view, const TilePlace& tile, const u8* first,
                                          u8* image, double value) {
  const LinePart part = part_of_lines(plan, source, view, tile);
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

}  // namespace tmajit
