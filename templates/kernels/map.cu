// map: out = f(x0 … x7), tile by tile, for tensors of the same shape.
//
//   inputs --copy engine, asked by one warp--> ring of `stages` --full--> warps: evaluate() --> ring --copy engine--> output
//
// `full[stage]`: all inputs of a tile have arrived. `empty[stage]`: the computing warps have read them.
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/elementwise.cuh"
#include "tmajit/fence.cuh"
//@ if row_tail
#include "tmajit/stored_ends.cuh"
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

// The thread that initialises the mbarriers fills the ring, without waiting for a CTA barrier.
template <class... Maps>
__device__ __forceinline__ void load_first_tiles(TileWalk<rank, tiles_per_cta>& tile_at, u32 base, RingBarriers full,
                                                 const Maps&... inputs) {
  // Each launch has new tensor maps, which no cache holds yet. Prefetching the output's map as well gained nothing.
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

// Loads the later tiles, each as soon as the computing warps have read the previous tile in its stage.
template <class... Maps>
__device__ __forceinline__ void load_more_tiles(TileWalk<rank, tiles_per_cta>& tile_at, u32 base, RingBarriers full,
                                                const Maps&... inputs) {
  const RingBarriers empty{base + barriers + 8 * stages};
  for (RingPosition<stages> position; tile_at; tile_at.next(), position.next()) {
    ptx::mbarrier::wait(empty[position.stage], position.parity);
    load_tile(AllInputs{}, tile_at, position.stage, base, full, inputs...);
  }
}

// `tail` is empty where rows end at multiples of 16 bytes.
template <class... Tail>
__device__ __forceinline__ void compute_tiles(const Numbers& numbers, const params::TileGrid<rank>& grid, u8* shared, u32 base, RingBarriers full,
                                              const TensorMap& output, const Tail&... tail) {
  constexpr u32 vectors = tile_elements / vector;
  RingPosition<stages> position;
  RingPosition<output_stages> result;
  for (TileWalk<rank, tiles_per_cta> tile_at(grid); tile_at; tile_at.next(), position.next(), result.next()) {
    const Where first(tile_at);
    ptx::mbarrier::wait(full[position.stage], position.parity);
#pragma unroll unrolled
    for (u32 start = 0; start < vectors; start += compute_threads) {
      const u32 v = start + threadIdx.x;
      if (vectors % compute_threads != 0 && v >= vectors) break;
      compute_vector(AllInputs{}, numbers, shared, position.stage, v, first, [&](const Pack<Output::Element, vector>& packed, u32 place) {
        *reinterpret_cast<Pack<Output::Element, vector>*>(shared + Output::placement().stage(result.stage) + place) = packed;
      });
    }

    // Makes the results visible to the store, and orders reads of the inputs before the next load.
    ptx::fence_proxy_async_shared();
    // After the barrier all warps write the next result: the earlier store from its stage must have read it by now.
    if (threadIdx.x == 0) ptx::wait_group_read<output_stages - 2>();
    ptx::sync_threads<1, compute_threads>();
    const u32 results = Output::placement().stage(result.stage);
    // A single condition: with nested ones ptxas 13.0 leaves a coordinate of the tile unset.
    if ((threadIdx.x == 0) & (engine_stores(tail, tile_at.at[rank - 1] * tile().at[rank - 1]) & ... & true)) {
      ptx::tensor_store(output, tile_at.origin(tile()), base + results);
    }
    if (threadIdx.x == 0) {
//@ if reloads
      ptx::mbarrier::arrive(RingBarriers{base + barriers + 8 * stages}[position.stage]);
//@ end
      ptx::commit_group();
    }
//@ if row_tail
    (store_ends(tail, tile_at, shared + results), ...);
//@ end
  }
  if (threadIdx.x == 0) ptx::wait_group_read<0>();
}

template <class Compute, class... Maps>
__device__ __forceinline__ void run_warps(const params::TileGrid<rank>& grid, const Compute& compute, const Maps&... inputs) {
  u8* shared = aligned_shared_memory();
  const u32 base = ptx::shared_address(shared);
  const RingBarriers full{base + barriers};
  const bool is_loading_warp = threadIdx.x >= compute_threads;
  const bool issues_loads = is_loading_warp && ptx::elect();
  TileWalk<rank, tiles_per_cta> tile_at(grid);
  if (issues_loads) load_first_tiles(tile_at, base, full, inputs...);
  __syncthreads();
//@ if reloads
  if (issues_loads) load_more_tiles(tile_at, base, full, inputs...);
//@ end
  if (!is_loading_warp) compute(shared, base, full);
}

template <class... Maps>
__device__ __forceinline__ void map_tiles(const Numbers& numbers, const params::TileGrid<rank>& grid, const TensorMap& output,
                                          const Maps&... inputs) {
  run_warps(grid, [&](u8* shared, u32 base, RingBarriers full) { compute_tiles(numbers, grid, shared, base, full, output); },
            inputs...);
}

template <class... Maps>
__device__ __forceinline__ void map_tiles_and_ends(const Numbers& numbers, const params::TileGrid<rank>& grid,
                                                    const params::RowTail<rank>& tail, const TensorMap& output,
                                                    const Maps&... inputs) {
  run_warps(grid,
            [&](u8* shared, u32 base, RingBarriers full) { compute_tiles(numbers, grid, shared, base, full, output, tail); },
            inputs...);
}

}  // namespace tmajit
