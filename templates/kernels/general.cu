// general: computes a destination, element by element, from sources that lie anyhow: any strides, any
// alignment, any types.
//
// A CTA does one tile, a box over all dimensions; a thread does chunks of `chunk` elements along the last
// dimension, `turns` of them at once, all their loads before their stores.
//@ if staggered
// The destination's rows begin anywhere; each row's chunks begin at boundaries of its memory, so that stores are
// whole in every row but for its ends.
//@ end
//@ if image
// A source whose memory runs along another dimension comes through an image in shared memory.
//@ end
//@ # Facts of the kernel: those of chunks.cuh, turns, Source<i>, AllSources and, with images, threads; if it computes,
//@ # evaluate().
//@ if image
#include "tmajit/async_copy.cuh"
#include "tmajit/image_unit.cuh"
#include "tmajit/shared.cuh"
//@ end
#include "tmajit/chunks.cuh"

namespace tmajit {

//@ if image
//@ if staggered
constexpr u32 before = chunk;  // elements of a row before the tile that an image holds
//@ else
constexpr u32 before = 0;  // elements of a row before the tile that an image holds
//@ end
//@ end

using Sources = params::Views<rank, AllSources::count>;

//@ if image
// ---- images ----

// Along the row, `skew` bytes come after each `chunk` lines of an image: they keep the chunks of a warp in
// different banks.

template <class From>
__device__ constexpr u32 units_in_image() {
  u32 count = From::pitch / unit;
  for (u32 d = 0; d < rank; ++d) count *= From::lines().at[d];
  return count;
}

// Copies every 16 bytes that hold an element of the tile, line by line in the order of the source's memory, and
// zeros for those that hold none. A line begins in its first 16 where it begins in memory.
template <class From>
__device__ __forceinline__ void load_image(const params::View<rank>& view, const Tile<rank>& tile, u32 image) {
  if constexpr (From::access == Access::image) {
    constexpr u32 line_units = From::pitch / unit;
    constexpr u32 outer = From::outer;  // of the dimensions that a line spans
    const u32 missing = tile.origin[row] == 0 ? before : 0;  // other tiles begin a chunk or more from the row's start
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
      const u32 into = static_cast<u32>(reinterpret_cast<u64>(from)) % unit;
      const i32 byte = static_cast<i32>(in_line * unit - into);  // of the line
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

//@ end
// ---- chunks ----

template <class From>
using Chosen = Raw<sizeof(typename From::Element), chunk>;

//@ if image
template <class From>
__device__ __forceinline__ void read_image(Chosen<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                           const u8* shared) {
  const u32 line = own.at[row] + before;
  const u8* at = shared + From::image + line * From::image_step().at[row];
  if constexpr (!From::row_in_line) at += line / chunk * From::skew;
  // Where the first line begins in memory, and so in its first 16 bytes of the image.
  u32 begin = static_cast<u32>(reinterpret_cast<u64>(tile)) + (From::row_in_line ? -before : own.at[row]) * static_cast<u32>(view.step[row]);
#pragma unroll
  for (u32 d = 0; d < row; ++d) {
    at += own.at[d] * From::image_step().at[d];
    if (From::lines().at[d] > 1) begin += own.at[d] * static_cast<u32>(view.step[d]);
  }
#pragma unroll
  for (u32 k = 0; k < chunk; ++k) {
    const u8* element = at + k * From::image_step().at[row];
//@ if staggered
    if (!From::row_in_line && line % chunk + k >= chunk) element += From::skew;
//@ end
    element += (From::row_in_line ? begin : begin + k * static_cast<u32>(view.step[row])) % unit;
    out.set(k, *reinterpret_cast<const typename Chosen<From>::Element*>(element));
  }
}

//@ end
//@ if run
// A chunk's elements, picked from those of its run in memory.
template <class From, class Run>
__device__ __forceinline__ void pick(Chosen<From>& out, const Run& run) {
  constexpr u32 distance = From::stride < 0 ? -From::stride : From::stride;
#pragma unroll
  for (u32 w = 0; w < out.words; ++w) out.word[w] = From::stride == 1 ? run.word[w] : 0;
  if constexpr (From::stride != 1) {
#pragma unroll
    for (u32 k = 0; k < chunk; ++k) out.set(k, run.get((From::stride < 0 ? chunk - 1 - k : k) * distance));
  }
}

// Elements `From::stride` apart, from the words that hold them; also, where only some are in the tile, their
// neighbours in memory. False if those words reach beyond the source.
template <class From>
__device__ __forceinline__ bool load_run(Chosen<From>& out, const params::View<rank>& view, const u8* from) {
  constexpr u32 distance = From::stride < 0 ? -From::stride : From::stride;
  constexpr u32 element_bytes = sizeof(typename From::Element);
  Raw<element_bytes, (chunk - 1) * distance + 1> run;
  if constexpr (From::stride < 0) from -= (chunk - 1) * distance * element_bytes;
  if constexpr (From::alignment >= 4) {
//@ if cut
    if (from < view.low || from + 4 * run.words > view.high) return false;
//@ else
    if (run.bytes % 4 != 0 && from + 4 * run.words > view.high) return false;
//@ end
    load_words<4 * run.words % From::alignment == 0 ? From::alignment : 4>(run.word, from);
//@ if unaligned
  } else {
    if (enclosing_word(from) < view.low || from + 4 * run.words + 4 > view.high) return false;
    load_words_anywhere(run.word, from);
//@ end
  }
  pick<From>(out, run);
  return true;
}

//@ if interleaved
// A whole chunk of elements next to each other, and nothing beside them: that may be the destination's.
template <class From>
__device__ __forceinline__ void load_own(Chosen<From>& out, const u8* from) {
  Chosen<From> run;
  if constexpr (From::stride < 0) from -= (chunk - 1) * sizeof(typename From::Element);
  load_narrowly<From::alignment>(run.word, from);
  pick<From>(out, run);
}

//@ end
//@ end
//@ if padded
//@ if !words
// Whether the source reaches all of the tile. The CTA's threads agree on it, and then leave the window alone: what a
// chunk of 16 bytes takes in instructions decides how fast bytes are padded, where wider elements wait for memory.
__device__ __forceinline__ bool covers(const params::Window<rank>& window, const Tile<rank>& tile) {
//@ if staggered
  constexpr u32 before = chunk - 1;  // elements of a row that come before the tile
//@ else
  constexpr u32 before = 0;  // elements of a row that come before the tile
//@ end
  bool all = true;
//@ each d
  all &= static_cast<i64>(tile.origin[d]) - (d == row ? before : 0) >= window.first[d];
  all &= static_cast<i64>(tile.origin[d]) + tile.inside[d] <= window.end[d];
//@ end
  return all;
}

//@ end
// The elements of a chunk that exist in the source.
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

//@ end
template <class From>
__device__ __forceinline__ void load(Chosen<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                     u32 first, u32 last, const u8* shared) {
  using Element = typename Chosen<From>::Element;
#pragma unroll
  for (u32& word : out.word) word = 0;
  if (first >= last) return;
//@ if image
  if constexpr (From::access == Access::image) read_image<From>(out, view, tile, own, shared);
//@ end
//@ if repeat
  if constexpr (From::access == Access::repeat) {
    const u8* from = own.in(view, tile, view.step[row]);
    const Element same = *reinterpret_cast<const Element*>(from);
#pragma unroll
    for (u32 k = 0; k < chunk; ++k) {
//@ if padded
      if (k >= first && k < last) out.set(k, same);  // the others are set to the padding
//@ else
      out.set(k, same);
//@ end
    }
  }
//@ end
//@ if elements
  if constexpr (From::access == Access::elements) {
    const u8* from = own.in(view, tile, view.step[row]);
#pragma unroll
    for (u32 k = 0; k < chunk; ++k) {
      if (k >= first && k < last) out.set(k, *reinterpret_cast<const Element*>(from + k * view.step[row]));
    }
  }
//@ end
//@ if run
  if constexpr (From::access == Access::run) {
    constexpr i64 step = i64{From::stride} * static_cast<i64>(sizeof(Element));
    const u8* from = own.in(view, tile, step);
//@ if interleaved
    if constexpr (From::interleaved) {
      if (first == 0 && last == chunk) return load_own<From>(out, from);
      out = load_some<sizeof(Element), chunk, 4>(from, step, first, last);
      return;
    }
//@ end
//@ if cut
    if (load_run<From>(out, view, from)) return;
    out = load_some<sizeof(Element), chunk, 1>(from, step, first, last);
//@ else
//@ if unaligned
    if (load_run<From>(out, view, from) || From::alignment >= 4) return;
    out = load_some<sizeof(Element), chunk, 1>(from, step, first, last);
//@ else
    load_run<From>(out, view, from);
//@ end
//@ end
  }
//@ end
}

template <u32 i>
struct Input {
  Chosen<Source<i>> bits;
};
template <u32... i>
struct Inputs : Input<i>... {};

//@ if computes
template <u32... i>
__device__ __forceinline__ Result computed(const Inputs<i...>& in, const Sources& views, const Tile<rank>& tile,
                                           const Chunk& own) {
  AllValues<chunk, i...> values;
  (packed<typename Source<i>::Element, chunk>(static_cast<const Input<i>&>(in).bits)
       .decode(static_cast<SourceValues<i, chunk>&>(values).at),
   ...);
  Value<Destination::Element> out[chunk];
#pragma unroll
  for (u32 k = 0; k < chunk; ++k) {
//@ if reads_g
    Coordinate g[coordinates];
    locate_element(g, views.head, tile, own, k);
    out[k] = result_of(evaluate(g, static_cast<SourceValues<i, chunk>&>(values).at[k]...));
//@ else
    out[k] = result_of(evaluate(static_cast<SourceValues<i, chunk>&>(values).at[k]...));
//@ end
  }
  Pack<Destination::Element, chunk> pack;
  pack.encode(out);
  return raw<Destination::Element, chunk>(pack);
}

//@ end
//@ if padded
//@ if !words
// The bits of a word from bit `first` on, which may lie before or behind it.
__device__ __forceinline__ u32 bits_from(i32 first) {
  return __funnelshift_lc(0, ~0U, max(first, 0));
}

//@ end
// Elements of a padded destination that the source does not reach: all but those from `first` to `last`.
__device__ __forceinline__ void surround(Result& result, const params::Window<rank>& window, u32 first, u32 last) {
  const auto around = padding_bits(window.value);
  Result all{};
//@ if words
#pragma unroll
  for (u32 k = 0; k < chunk; ++k) all.set(k, k < first || k >= last ? around : result.get(k));
  result = all;
//@ else
#pragma unroll
  for (u32 k = 0; k < chunk; ++k) all.set(k, around);
  constexpr i32 bits = 8 * sizeof(Destination::Element);
  const i32 begin = bits * static_cast<i32>(first);
  const i32 end = bits * static_cast<i32>(last);
#pragma unroll
  for (i32 w = 0; w < static_cast<i32>(result.words); ++w) {
    const u32 own = bits_from(begin - 32 * w) & ~bits_from(end - 32 * w);
    result.word[w] = (result.word[w] & own) | (all.word[w] & ~own);
  }
//@ end
}

//@ end
// Loads all of a thread's chunks, then computes and stores them. `source` is where the tile begins in each source.
template <u32... i>
__device__ __forceinline__ void compute_chunks(Indices<i...>, const Sources& views,
//@ if padded
                                               const params::Window<rank>& window,
//@ end
                                               const Tile<rank>& tile, const u8* const (&source)[sizeof...(i)],
                                               const u8* shared, const Chunk (&own)[turns]) {
  Inputs<i...> in[turns];
  u32 first[turns];
  u32 last[turns];
//@ if padded
//@ if !words
  const bool covered = covers(window, tile);
//@ end
//@ end
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    first[turn] = own[turn].first;
    last[turn] = own[turn].last;
//@ if padded
//@ if words
    clip(window, tile, own[turn], first[turn], last[turn]);
//@ else
    if (!covered) clip(window, tile, own[turn], first[turn], last[turn]);
//@ end
//@ end
    (load<Source<i>>(static_cast<Input<i>&>(in[turn]).bits, views.source[i], source[i], own[turn], first[turn], last[turn],
                     shared),
     ...);
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    if (own[turn].first >= own[turn].last) continue;
//@ if computes
    store(views.head.destination, own[turn], computed(in[turn], views, tile, own[turn]));
//@ else
    Result result{{}};
    (void(result = static_cast<const Input<i>&>(in[turn]).bits), ...);
//@ if padded
    if (first[turn] > own[turn].first || last[turn] < own[turn].last) surround(result, window, first[turn], last[turn]);
//@ end
    store(views.head.destination, own[turn], result);
//@ end
  }
}

//@ if image
template <u32... i>
__device__ __forceinline__ void compute_tile(Indices<i...> sources, const Sources& views) {
  extern __shared__ __align__(16) u8 shared[];
  const Tile<rank> tile(views.head, box());
  (load_image<Source<i>>(views.source[i], tile, ptx::shared_address(shared)), ...);
  ptx::wait_async_copies();
  __syncthreads();
  u8* destination = tile.in(views.head.destination);
  const u8* source[] = {tile.in(views.source[i])...};
#pragma unroll 1
  for (u32 start = threadIdx.x; start < chunks_in_tile(); start += turns * threads) {
    Chunk own[turns];
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) own[turn] = locate(views.head, tile, destination, start + turn * threads);
    compute_chunks(sources, views, tile, source, shared, own);
  }
}

__device__ __forceinline__ void compute_views(const Sources& views) {
  compute_tile(AllSources{}, views);
}
//@ else
template <u32... i>
__device__ __forceinline__ void compute_tile(Indices<i...> sources, const Sources& views,
//@ if padded
                                             const params::Window<rank>& window,
//@ end
                                             u64 sides) {
  const Tile<rank> tile(views.head, tile_box<rank, chunk>(sides));
  u8* destination = tile.in(views.head.destination);
  const u8* source[] = {tile.in(views.source[i])...};
  Chunk own[turns];
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    own[turn] = locate(views.head, sides, tile, destination, turn * blockDim.x + threadIdx.x);
  }
//@ if padded
  compute_chunks(sources, views, window, tile, source, nullptr, own);
//@ else
  compute_chunks(sources, views, tile, source, nullptr, own);
//@ end
}

//@ if padded
__device__ __forceinline__ void compute_views(const Sources& views, const params::Window<rank>& window,
                                              u64 sides) {
  compute_tile(AllSources{}, views, window, sides);
}
//@ else
__device__ __forceinline__ void compute_views(const Sources& views, u64 sides) {
  compute_tile(AllSources{}, views, sides);
}
//@ end
//@ end

}  // namespace tmajit
