// general: computes a destination, element by element, from sources with any strides, alignment and types.
//
//   source --`turns` chunks of a thread--> registers --evaluate()--> the same chunks of the destination
//   source along another dimension --16 bytes at a time--> image in shared memory --all threads meet--> registers
//
// A CTA computes one tile, a box over all dimensions. Each row's chunks begin at boundaries of the destination's memory.
//@ # Facts of the kernel: those of chunk_sources.cuh, turns, Source<i>, AllSources; if it computes, evaluate().
#include "tmajit/chunk_padding.cuh"
#include "tmajit/chunk_sources.cuh"
//@ if image
#include "tmajit/source_images.cuh"
//@ else
#include "tmajit/chunk_sides.cuh"
//@ end

namespace tmajit {

using Sources = params::Views<rank, AllSources::count>;

template <u32 i>
struct Input {
  SourceChunk<Source<i>> bits;
};
template <u32... i>
struct Inputs : Input<i>... {};

template <class From>
__device__ __forceinline__ void load(SourceChunk<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                     u32 first, u32 last, const u8* shared) {
#pragma unroll
  for (u32& word : out.word) word = 0;
  if (first >= last) return;
  From::Access::template load<From>(out, view, tile, own, first, last, shared);
}

template <u32... i>
__device__ __forceinline__ Result computed(const Inputs<i...>& in, const Sources& views, const Tile<rank>& tile,
                                           const Chunk& own) {
  AllValues<chunk, i...> values;
  (to_pack<typename Source<i>::Element, chunk>(static_cast<const Input<i>&>(in).bits)
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
  return to_raw<Destination::Element, chunk>(pack);
}

// Loads all of a thread's chunks, then computes and stores them. `source` holds the tile's address in each source. `padding` is one
// Padding, or nothing if the sources cover the destination.
template <u32... i, class... Outside>
__device__ __forceinline__ void compute_chunks(Indices<i...>, const Sources& views, const Tile<rank>& tile,
                                               const u8* const (&source)[sizeof...(i)], const u8* shared,
                                               const Chunk (&own)[turns], const Outside&... padding) {
  Inputs<i...> in[turns];
  u32 first[turns];
  u32 last[turns];
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    first[turn] = own[turn].first;
    last[turn] = own[turn].last;
    (padding.clip_chunk(own[turn], first[turn], last[turn]), ...);
    (load<Source<i>>(static_cast<Input<i>&>(in[turn]).bits, views.source[i], source[i], own[turn], first[turn], last[turn],
                     shared),
     ...);
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    if (own[turn].first >= own[turn].last) continue;
//@ if computes
    const Result result = computed(in[turn], views, tile, own[turn]);
//@ else
    Result result{{}};
    (void(result = static_cast<const Input<i>&>(in[turn]).bits), ...);
    (padding.set(result, own[turn], first[turn], last[turn]), ...);
//@ end
    Stores::store(views.head.destination, own[turn], result);
  }
}

template <u32... i>
__device__ __forceinline__ void compute_through_images(Indices<i...> sources, const Sources& views) {
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

template <u32... i, class... Outside>
__device__ __forceinline__ void compute_views(Indices<i...> sources, const Sources& views, u64 sides, const Outside&... outside) {
  const Tile<rank> tile(views.head, tile_box<rank, chunk>(sides));
  u8* destination = tile.in(views.head.destination);
  const u8* source[] = {tile.in(views.source[i])...};
  Chunk own[turns];
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    own[turn] = locate(views.head, sides, tile, destination, turn * blockDim.x + threadIdx.x);
  }
  compute_chunks(sources, views, tile, source, nullptr, own, outside.padding(tile)...);
}

__device__ __forceinline__ void compute_padded(const Sources& views, const params::Window<rank>& window, u64 sides) {
  compute_views(AllSources{}, views, sides, Filled{window});
}

}  // namespace tmajit
