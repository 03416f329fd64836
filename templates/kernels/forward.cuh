// The loop of copy, snapshot and reduce_into: loads tiles into a ring of stages, and stores them from the same memory.
//@ # Facts of the kernel: rank, tile, extent, stages, tiles_per_cta, input, barriers.
#pragma once
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/placement.cuh"
#include "tmajit/ring.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map.cuh"
#include "tmajit/tile_walk.cuh"

namespace tmajit {

// Stores that may still read their stage while the warp continues; the other stages hold loads in flight. Overlap needs at
// least one store and one load.
constexpr u32 stores_in_flight = stages > 2 ? stages / 2 : stages - 1;

// Calls store(tile, offset of its stage) in all threads of the warp for every tile of this CTA when it has
// arrived. Only thread 0 issues copies in `store`.
template <class Store>
__device__ __forceinline__ void forward_tiles(const params::TileGrid<rank>& grid, u32 base, const TensorMap& source,
                                              Store store) {
  const bool leader = threadIdx.x == 0;
  const RingBarriers full{base + barriers};
  TileWalk<rank, tiles_per_cta> incoming(grid);
  const auto load = [&](u32 stage) {
    ptx::mbarrier::arrive_expect_tx(full[stage], input().load_bytes);
    ptx::tensor_load(base + input().stage(stage), source, incoming.origin(extent()), full[stage]);
    incoming.next();
  };
  if (leader) {
    ptx::prefetch_tensor_map(source);  // each launch has tensor maps of its own, which no cache holds yet
    full.init<stages>(1);
    ptx::fence_mbarrier_init();
    for (u32 stage = 0; stage < stages && incoming; ++stage) load(stage);
  }
  __syncwarp();

  RingPosition<stages> arriving;
//@ if reloads
  RingPosition<stages> freed;
  u32 stored = 0;
//@ end
  for (TileWalk<rank, tiles_per_cta> outgoing(grid); outgoing; outgoing.next()) {
    ptx::mbarrier::wait(full[arriving.stage], arriving.parity);
    store(outgoing, input().stage(arriving.stage));
    arriving.next();
    if (leader) {
      ptx::commit_group();
//@ if reloads
      // The stage that was stored `stores_in_flight` tiles ago is free once that store has read it.
      if (++stored > stores_in_flight && incoming) {
        ptx::wait_group_read<stores_in_flight>();
        load(freed.stage);
        freed.next();
      }
//@ end
    }
    __syncwarp();
  }
  if (leader) ptx::wait_group_read<0>();  // shared memory is given up; the writes complete with the grid
}

}  // namespace tmajit
