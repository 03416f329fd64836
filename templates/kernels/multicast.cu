//@ if computes
// multicast: computes a destination from sources of which some repeat along a dimension.
//@ else
// multicast: moves bits to a destination from a source that repeats along a dimension.
//@ end
//
//@ if multicast
// The CTAs of a cluster lie along that dimension, side by side, and do the same tile of all others, one after the other.
// What repeats is the same tile for all of them: each asks for a part of it, which goes to
// all.
//
// A stage is full in a CTA when all that comes into it has, whoever asked for it. It may be filled again when the warps of
// all CTAs have read it, for a part goes to all of them: they release it to the loading thread of each.
//@ else
// CTAs lie along that dimension, each alone: what repeats is brought by each of them.
//@ end
//@ # Facts of the kernel: rank, warps, box, cluster, along, stages, stage_bytes, load_bytes, in_word, alignment, words,
//@ # Offset, word_index, where evaluate() reads g dimension_of and backwards, and those of loaded_word.cuh, with image,
//@ # part_bytes, loads, shared, box() and place() of each source.
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/cluster_grid.cuh"
#include "tmajit/direct_tile.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/loaded_word.cuh"
#include "tmajit/pipeline.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map.cuh"
#include "tmajit/tile_index.cuh"

namespace tmajit {

constexpr u32 row = rank - 1;  // the last dimension

//@ if multicast
using Stages = Pipeline<stages, PipelineScope::cluster>;
using ReadyStages = Pipeline<stages, PipelineScope::cluster, BarrierState::ready>;
//@ else
using Stages = Pipeline<stages>;
using ReadyStages = Pipeline<stages, PipelineScope::cta, BarrierState::ready>;
//@ end

// ---- loading ----

template <u32 i>
__device__ __forceinline__ void load_source(const TensorMap& source, const TileIndex<rank>& tile, u32 cta, u32 stage, u32 barrier) {
  const u32 image = stage + Source<i>::image;
#pragma unroll
  for (u32 k = 0; k < Source<i>::loads; ++k) {
//@ if multicast
    if constexpr (Source<i>::shared) {
      const u32 part = cta * Source<i>::loads + k;
      ptx::tensor_load(image + part * Source<i>::part_bytes, source, Source<i>::box(tile, part), barrier,
                       all_ctas<cluster>());
      continue;
    }
//@ end
    ptx::tensor_load(image + k * Source<i>::part_bytes, source, Source<i>::box(tile, k), barrier);
  }
}

// One thread: the tiles from `first` to `last`.
template <u32... i, class... Maps>
__device__ __forceinline__ void load_tiles(Indices<i...>, const params::ClusterGrid<rank>& grid, u32 first, u32 last, u32 cta,
                                           u32 memory, const ReadyStages& pipeline, const Maps&... sources) {
  (ptx::prefetch_tensor_map(sources), ...);
  auto producer = pipeline.producer();
  for (u32 n = first; n < last; ++n) {
    TileIndex<rank> tile(grid, n);
    tile.at[along] = tile.at[along] * cluster + cta;
    const auto stage = producer.acquire(load_bytes);
    (load_source<i>(sources, tile, cta, memory + stage.index * stage_bytes, stage.barrier), ...);
  }
//@ if multicast
  producer.drain();  // the other CTAs still release to this one's barriers
//@ end
}

// ---- storing ----

template <u32 i>
__device__ __forceinline__ void read(Input<i>& input, const u8* image) {
  constexpr u32 bytes = in_word * sizeof(typename Source<i>::Element);
  if constexpr (bytes >= 4) {
    u32 word[bytes / 4];
    load_words<bytes>(word, image);
    input.bits = {};
#pragma unroll
    for (u32 w = 0; w < bytes / 4; ++w) input.bits.word[w] = word[w];
  } else {
    input.bits = {{*reinterpret_cast<const typename Bits<bytes>::Type*>(image)}};
  }
}

template <u32... i>
__device__ __forceinline__ void read_all(Inputs<i...>& inputs, const u8* stage, const u32 (&index)[rank]) {
  (read<i>(inputs, stage + Source<i>::image + Source<i>::place(index)), ...);
}

//@ if reads_g
// The index in each dimension of the user's destination of element k of the word at `index` of the tile at `at`.
__device__ __forceinline__ void locate_element(Coordinate (&g)[coordinates], const params::DirectView<rank>& destination,
                                               const u32 (&at)[rank], const u32 (&index)[rank], u32 k) {
#pragma unroll
  for (u32 c = 0; c < coordinates; ++c) {
    const u32 d = dimension_of().at[c];
    if (d == rank) {
      g[c] = 0;  // an extent of 1
    } else {
      const u64 element = static_cast<u64>(at[d]) * box().at[d] + index[d] + (d == row ? k : 0);
      g[c] = static_cast<Coordinate>(backwards().at[c] != 0 ? destination.extent[d] - 1 - element : element);
    }
  }
}

//@ end
// The CTA's tile, whose place is `at`.
template <u32... i>
__device__ __forceinline__ void store_tile(Indices<i...>, const params::DirectView<rank>& destination, const u32 (&at)[rank],
                                           const u8* stage) {
  const DirectTile<rank> part(destination, box(), at);
  if (part.inside[along] <= 0) return;  // of the last cluster: such a CTA only brings what others need
#pragma unroll 2
  for (u32 n = threadIdx.x; n < words; n += 32 * warps) {
    u32 index[rank];
    word_index(n, index);
    Offset offset = 0;
    bool exists = true;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      offset += static_cast<Offset>(index[d]) * static_cast<Offset>(d == row ? element_bytes : destination.step[d]);
      exists = exists && static_cast<i32>(index[d]) < part.inside[d];
    }
    if (!exists) continue;
    Inputs<i...> inputs;
    read_all(inputs, stage, index);
//@ if reads_g
    const auto locate = [&](Coordinate (&g)[coordinates], u32 k) { locate_element(g, destination, at, index, k); };
    const Word word = word_of(inputs, locate);
//@ else
    const Word word = word_of(inputs);
//@ end
    const u32 left = part.inside[row] - index[row];
    if (left >= in_word) {
      store_raw<alignment>(part.origin + offset, word);
    } else {
      store_some(part.origin + offset, element_bytes, word, 0, left);
    }
  }
}

__device__ __forceinline__ void store_tiles(const params::ClusterGrid<rank>& grid, u32 first, u32 last, u32 cta,
                                            const params::DirectView<rank>& destination, const u8* memory,
                                            const ReadyStages& pipeline) {
  const u32 lane = threadIdx.x % 32;
  auto consumer = pipeline.consumer();
  for (u32 n = first; n < last; ++n) {
    TileIndex<rank> tile(grid, n);
    tile.at[along] = tile.at[along] * cluster + cta;
    const auto stage = consumer.wait();
    store_tile(AllSources{}, destination, tile.at, memory + stage.index * stage_bytes);
    __syncwarp();
//@ if multicast
    consumer.release_to(lane, lane < cluster);
//@ else
    consumer.release(lane == 0);
//@ end
  }
}

template <class... Maps>
__device__ __forceinline__ void multicast_tiles(const params::ClusterGrid<rank>& grid,
                                                const params::DirectView<rank>& destination, const Maps&... sources) {
  __shared__ u64 barriers[Stages::bytes / sizeof(u64)];
  u8* const memory = aligned_shared_memory();
  // One thread fills a stage; each warp of the cluster that stores releases it.
  const auto pipeline = Stages(ptx::shared_address(barriers)).init(1, cluster * warps, threadIdx.x == 0);
//@ if multicast
  ptx::sync_cluster();
//@ else
  __syncthreads();
//@ end
  const u32 cta = blockIdx.x % cluster;
  const u32 first = blockIdx.x / cluster * grid.share;
  const u32 last = first + grid.share < grid.count ? first + grid.share : grid.count;
  if (threadIdx.x >= 32 * warps) {
    if (ptx::elect()) {
      load_tiles(AllSources{}, grid, first, last, cta, ptx::shared_address(memory), pipeline, sources...);
    }
  } else {
    store_tiles(grid, first, last, cta, destination, memory, pipeline);
  }
}

}  // namespace tmajit
