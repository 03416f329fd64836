// Padding: the elements of a destination outside its source.
//@ # Facts of the kernel: those of chunks.cuh, staggered.
#pragma once
#include "tmajit/chunks.cuh"

namespace tmajit {

// Whether the source covers the whole tile. All threads of the CTA then skip the comparisons with the window. This matters
// for elements of one byte, whose speed the instructions for a chunk of 16 bytes limit; wider elements wait for memory.
__device__ __forceinline__ bool covers(const params::Window<rank>& window, const Tile<rank>& tile) {
  constexpr u32 before = staggered ? chunk - 1 : 0;  // elements of a row that come before the tile
  bool all = true;
//@ each d
  all &= static_cast<i64>(tile.origin[d]) - (d == row ? before : 0) >= window.first[d];
  all &= static_cast<i64>(tile.origin[d]) + tile.inside[d] <= window.end[d];
//@ end
  return all;
}

// Narrows [first, last) to the elements of a chunk that exist in the source.
__device__ __forceinline__ void clip(const params::Window<rank>& window, const Tile<rank>& tile, const Chunk& own, u32& first,
                                     u32& last) {
#pragma unroll
  for (u32 d = 0; d < rank; ++d) {
    const i64 at = static_cast<i64>(tile.origin[d]) + own.at[d];
    if (d != row) {
      if (at < window.first[d] || at >= window.end[d]) last = 0;
    } else {
      const i64 begin = window.first[d] - at;
      const i64 end = window.end[d] - at;
      if (begin > static_cast<i64>(first)) first = begin < static_cast<i64>(chunk) ? static_cast<u32>(begin) : chunk;
      if (end < static_cast<i64>(last)) last = end > 0 ? static_cast<u32>(end) : 0;
    }
  }
}

// A mask of a word's bits from bit `first` on; `first` may be negative or beyond the word.
__device__ __forceinline__ u32 bits_from(i32 first) {
  return __funnelshift_lc(0, ~0U, max(first, 0));
}

// Sets all elements of a chunk outside [first, last) to the padding.
__device__ __forceinline__ void set_padding(Result& result, const params::Window<rank>& window, u32 first, u32 last) {
  const auto padding = padding_bits(window.value);
  Result all{};
//@ if words
#pragma unroll
  for (u32 k = 0; k < chunk; ++k) all.set(k, k < first || k >= last ? padding : result.get(k));
  result = all;
//@ else
#pragma unroll
  for (u32 k = 0; k < chunk; ++k) all.set(k, padding);
  constexpr i32 bits = 8 * sizeof(Destination::Element);
  const i32 begin = bits * static_cast<i32>(first);
  const i32 end = bits * static_cast<i32>(last);
#pragma unroll
  for (i32 w = 0; w < static_cast<i32>(result.words); ++w) {
    const u32 source_bits = bits_from(begin - 32 * w) & ~bits_from(end - 32 * w);
    result.word[w] = (result.word[w] & source_bits) | (all.word[w] & ~source_bits);
  }
//@ end
}

struct Padding {
  const params::Window<rank>& window;
  const Tile<rank>& tile;
  bool covered;  // the source covers the tile; always false for elements of a word or more

  __device__ __forceinline__ void clip_chunk(const Chunk& own, u32& first, u32& last) const {
    if (!covered) clip(window, tile, own, first, last);
  }
  __device__ __forceinline__ void set(Result& result, const Chunk& own, u32 first, u32 last) const {
    if (first > own.first || last < own.last) set_padding(result, window, first, last);
  }
};
struct Filled {
  const params::Window<rank>& window;

  __device__ __forceinline__ Padding padding(const Tile<rank>& tile) const {
    return {window, tile, sizeof(Destination::Element) < 4 && covers(window, tile)};
  }
};

}  // namespace tmajit
