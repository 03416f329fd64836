// map: out = f(x0 … x7), tile by tile, for tensors of the same shape.
//
// One warp issues the loads of every input into a ring of stages, the first of them before the others know of its
// mbarriers; the others compute. `full[stage]` says that all inputs of a tile have arrived.
//@ if reloads
// `empty[stage]` says that the compute warps have read them.
//@ end
// Results go to a second ring, from which one thread stores them while the others are at the next tile.
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/elementwise.cuh"
#include "tmajit/fence.cuh"
//@ if row_tail
#include "tmajit/row_tail.cuh"
//@ end
#include "tmajit/shared_memory.cuh"
#include "tmajit/sync.cuh"
#include "tmajit/tensor_map.cuh"
#include "tmajit/tile_walk.cuh"
#include "tmajit/ring.cuh"

namespace tmajit {

template <u32... i, class... Maps>
__device__ __forceinline__ void load_tile(Indices<i...>, const TileWalk<rank, tiles_per_cta>& tile_at, u32 stage, u32 base,
                                          RingBarriers full, const Maps&... inputs) {
  ptx::mbarrier::arrive_expect_tx(full[stage], (Input<i>::placement().load_bytes + ...));
  (ptx::tensor_load(base + Input<i>::placement().stage(stage), inputs, tile_at.origin(Input<i>::extent()), full[stage]),
   ...);
}

// The thread that makes the mbarriers fills the ring: it need not meet those that wait for the tiles.
template <class... Maps>
__device__ __forceinline__ void load_first_tiles(TileWalk<rank, tiles_per_cta>& tile_at, u32 base, RingBarriers full,
                                                 const Maps&... inputs) {
  // Each launch has tensor maps of its own, which no cache holds yet. To fetch the output's ahead, too, gained nothing.
  (ptx::prefetch_tensor_map(inputs), ...);
  full.init<stages>(1);
//@ if reloads
  RingBarriers{base + barriers + 8 * stages}.init<stages>(1);
//@ end
  ptx::fence_mbarrier_init();
  for (u32 stage = 0; stage < stages && tile_at; ++stage, tile_at.next()) {
    load_tile(AllInputs{}, tile_at, stage, base, full, inputs...);
  }
}

//@ if reloads
// The tiles after those, each when the stage of an earlier one has been read.
template <class... Maps>
__device__ __forceinline__ void load_more_tiles(TileWalk<rank, tiles_per_cta>& tile_at, u32 base, RingBarriers full,
                                                const Maps&... inputs) {
  const RingBarriers empty{base + barriers + 8 * stages};
  for (RingPosition<stages> position; tile_at; tile_at.next(), position.next()) {
    ptx::mbarrier::wait(empty[position.stage], position.parity);
    load_tile(AllInputs{}, tile_at, position.stage, base, full, inputs...);
  }
}

//@ end
//@ if row_tail
__device__ __forceinline__ void compute_tiles(const params::TileGrid<rank>& grid, const params::RowTail<rank>& tail,
                                              u8* shared, u32 base, RingBarriers full,
                                              const TensorMap& output) {
  constexpr u32 columns = tile().at[rank - 1];
//@ else
__device__ __forceinline__ void compute_tiles(const params::TileGrid<rank>& grid, u8* shared, u32 base,
                                              RingBarriers full, const TensorMap& output) {
//@ end
//@ if reloads
  const RingBarriers empty{base + barriers + 8 * stages};
//@ end
  RingPosition<stages> position;
  RingPosition<output_stages> result;
  for (TileWalk<rank, tiles_per_cta> tile_at(grid); tile_at; tile_at.next(), position.next(), result.next()) {
//@ if reads_g
    Coordinate origin[rank];
#pragma unroll
    for (u32 d = 0; d < rank; ++d) origin[d] = tile_at.at[d] * tile().at[d];

//@ end
    ptx::mbarrier::wait(full[position.stage], position.parity);
//@ if reads_g
    compute_tile(AllInputs{}, shared, position.stage, result.stage, origin);
//@ else
    compute_tile(AllInputs{}, shared, position.stage, result.stage);
//@ end

    // The results must be visible to the store, and the inputs' reads over before the next load.
    ptx::fence_proxy_async_shared();
    // Past the barrier the others write the next result: its stage must have been stored by now.
    if (threadIdx.x == 0) ptx::wait_group_read<output_stages - 2>();
    ptx::sync_threads<1, compute_threads>();
//@ if row_tail
    const u32 column = tile_at.at[rank - 1] * columns;
//@ end
    const u32 results = Output::placement().stage(result.stage);
//@ if row_tail
    // One condition, not one in the other: ptxas 13.0 makes the inner one a predicate of the store, under which it leaves
    // a coordinate of the tile unset.
    if (threadIdx.x == 0 && tail.begin > column) {
//@ else
    if (threadIdx.x == 0) {
//@ end
      ptx::tensor_store(output, tile_at.origin(tile()), base + results);
    }
    if (threadIdx.x == 0) {
//@ if reloads
      ptx::mbarrier::arrive(empty[position.stage]);
//@ end
      ptx::commit_group();
    }
//@ if row_tail
    if (threads_store(tail, column, columns)) {
      store_tail<Output::Element>(tail, tile_at, tile(), shared + results, Output::placement(), threadIdx.x,
                                  compute_threads);
    }
//@ end
  }
  if (threadIdx.x == 0) ptx::wait_group_read<0>();
}

template <class... Maps>
//@ if row_tail
__device__ __forceinline__ void map_tiles(const params::TileGrid<rank>& grid, const params::RowTail<rank>& tail,
                                          const TensorMap& output, const Maps&... inputs) {
//@ else
__device__ __forceinline__ void map_tiles(const params::TileGrid<rank>& grid, const TensorMap& output,
                                          const Maps&... inputs) {
//@ end
  u8* shared = aligned_shared_memory();
  const u32 base = ptx::shared_address(shared);
  const RingBarriers full{base + barriers};
  if (threadIdx.x >= compute_threads) {
    TileWalk<rank, tiles_per_cta> tile_at(grid);
    const bool loads = ptx::elect();
    if (loads) load_first_tiles(tile_at, base, full, inputs...);
    __syncthreads();
//@ if reloads
    if (loads) load_more_tiles(tile_at, base, full, inputs...);
//@ end
  } else {
    __syncthreads();
//@ if row_tail
    compute_tiles(grid, tail, shared, base, full, output);
//@ else
    compute_tiles(grid, shared, base, full, output);
//@ end
  }
}

}  // namespace tmajit
