// exchange: moves runs of memory between two views next to whose runs different dimensions lie, `along` in the source
// and `across` in the destination.
//
// The CTAs of a cluster do a tile together. Each loads some indices of `across` with all of `along`: long pieces of the
// source. It sends every other CTA the pieces that this one stores, through distributed shared memory. Each then stores
// some indices of `along` with all of `across`: long pieces of the destination.
//
// One thread loads, one warp sends, the others store. `loaded` says that a CTA's own part of the tile is there, `arrived`
// that what the others send is. A stage may be filled again when the warps of all CTAs have stored it: what a CTA sends is
// read until it has arrived, and nobody may send where another still reads.
//@ # Facts of the kernel: rank, warps, box, cluster, across, along, stages, stage_bytes, owned, run_bytes, piece_bytes,
//@ # piece_pitch, image_bytes, arrived_bytes, unit_bytes, units, Offset, unit_index, source_box().
#include "tmajit/bulk.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/cluster.cuh"
#include "tmajit/cluster_grid.cuh"
#include "tmajit/direct_tile.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/pipeline.cuh"
#include "tmajit/ring.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map.cuh"
#include "tmajit/tile_index.cuh"
#include "tmajit/vector16.cuh"

namespace tmajit {

using Stages = Pipeline<stages, PipelineScope::cluster>;
using ReadyStages = Pipeline<stages, PipelineScope::cluster, BarrierState::ready>;
using Unit = typename Bits<unit_bytes>::Type;

// The tiles of a cluster, and which of its CTAs this is.
struct Share {
  u32 first;
  u32 last;
  u32 cta;
};

// One thread: the CTA's own part of each tile.
__device__ __forceinline__ void load_tiles(const params::ClusterGrid<rank>& grid, const Share& share, const TensorMap& source,
                                           u32 memory, const ReadyStages& loaded, RingBarriers arrived) {
  ptx::prefetch_tensor_map(source);
  auto producer = loaded.producer();
  for (u32 n = share.first; n < share.last; ++n) {
    const TileIndex<rank> tile(grid, n);
    const auto stage = producer.acquire(image_bytes);
    ptx::mbarrier::arrive_expect_tx(arrived[stage.index], arrived_bytes);
    ptx::tensor_load(memory + stage.index * stage_bytes, source, source_box(tile, share.cta), stage.barrier);
  }
  producer.drain();  // the other CTAs still release to this one's barriers
}

// One warp: to each other CTA its pieces of what this one has loaded. The next CTA comes first, so that they do not all
// send to the same one.
__device__ __forceinline__ void send_tiles(const Share& share, u32 memory, const ReadyStages& loaded, RingBarriers arrived) {
  const u32 lane = threadIdx.x % 32;
  auto consumer = loaded.consumer();
  for (u32 n = share.first; n < share.last; ++n) {
    const auto stage = consumer.wait();
    const u32 image = memory + stage.index * stage_bytes;
#pragma unroll 1
    for (u32 k = lane; k < owned * (cluster - 1); k += 32) {
      const u32 line = k % owned;
      const u32 peer = (share.cta + 1 + k / owned) % cluster;
      const u32 from = image + (line * cluster + peer) * piece_bytes;
      const u32 to = image + image_bytes + (share.cta * owned + line) * piece_pitch;
      ptx::bulk_send(ptx::map_to_cta(to, peer), from, piece_bytes, ptx::map_to_cta(arrived[stage.index], peer));
    }
  }
}

// The CTA's part of the destination, whose place is `at`: unit by unit, in the order of its memory.
__device__ __forceinline__ void store_tile(const params::DirectView<rank>& destination, const u32 (&at)[rank], u32 cta,
                                           const u8* image) {
  const DirectTile<rank> part(destination, box(), at);
#pragma unroll 4
  for (u32 n = threadIdx.x; n < units; n += 32 * warps) {
    u32 index[rank];
    unit_index(n, index);
    Offset offset = 0;
    bool exists = true;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      offset += static_cast<Offset>(index[d]) * static_cast<Offset>(d == rank - 1 ? unit_bytes : destination.step[d]);
      exists = exists && static_cast<i32>(index[d]) < part.inside[d];
    }
    if (!exists) continue;
    const u32 line = index[across] - cta * owned;  // of those that this CTA has loaded itself, if it is one
    const u32 piece = line < owned ? (line * cluster + cta) * piece_bytes : image_bytes + index[across] * piece_pitch;
    const u8* const from = image + piece + index[along] * run_bytes + index[rank - 1] * unit_bytes;
    *reinterpret_cast<Unit*>(part.origin + offset) = *reinterpret_cast<const Unit*>(from);
  }
}

__device__ __forceinline__ void store_tiles(const params::ClusterGrid<rank>& grid, const Share& share,
                                            const params::DirectView<rank>& destination, const u8* memory,
                                            const ReadyStages& loaded, RingBarriers arrived) {
  const u32 lane = threadIdx.x % 32;
  auto consumer = loaded.consumer();
  RingPosition<stages> position;
  for (u32 n = share.first; n < share.last; ++n, position.next()) {
    TileIndex<rank> tile(grid, n);
    tile.at[along] = tile.at[along] * cluster + share.cta;
    const auto stage = consumer.wait();
    ptx::mbarrier::wait(arrived[stage.index], position.parity);
    store_tile(destination, tile.at, share.cta, memory + stage.index * stage_bytes);
    __syncwarp();
    consumer.release_to(lane, lane < cluster);
  }
}

__device__ __forceinline__ void exchange_tiles(const params::ClusterGrid<rank>& grid, const params::DirectView<rank>& destination,
                                               const TensorMap& source) {
  __shared__ u64 barriers[Stages::bytes / sizeof(u64) + stages];
  u8* const images = aligned_shared_memory();
  const u32 memory = ptx::shared_address(images);
  const RingBarriers arrived{ptx::shared_address(barriers) + Stages::bytes};
  if (threadIdx.x == 0) arrived.init<stages>(1);
  // One thread fills a stage; each warp of the cluster that stores releases it.
  const auto loaded = Stages(ptx::shared_address(barriers)).init(1, cluster * warps, threadIdx.x == 0);
  ptx::sync_cluster();
  const u32 first = blockIdx.x / cluster * grid.share;
  const u32 last = first + grid.share < grid.count ? first + grid.share : grid.count;
  const Share share{first, last, blockIdx.x % cluster};
  const u32 warp = threadIdx.x / 32;
  if (warp < warps) {
    store_tiles(grid, share, destination, images, loaded, arrived);
  } else if (warp == warps) {
    send_tiles(share, memory, loaded, arrived);
  } else if (ptx::elect()) {
    load_tiles(grid, share, source, memory, loaded, arrived);
  }
}

}  // namespace tmajit
