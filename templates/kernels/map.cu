// map: out = f(x0 … x7), tile by tile, for tensors of the same shape.
//
// One warp issues the loads of every input into a ring of stages; the others compute. `full[stage]` says that
// all inputs of a tile have arrived, `empty[stage]` that the compute warps have read them. Results go to a
// second ring, from which one thread stores them while the others are at the next tile.
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
__device__ __forceinline__ void load_tiles(Indices<i...>, const params::TileGrid<rank>& grid, u32 base, RingBarriers full,
                                           RingBarriers empty, const Maps&... inputs) {
  RingPosition<stages> position;
  for (TileWalk<rank, tiles_per_cta> tile_at(grid); tile_at; tile_at.next(), position.next()) {
    ptx::mbarrier::wait(empty[position.stage], position.parity ^ 1);
    ptx::mbarrier::arrive_expect_tx(full[position.stage], (Input<i>::placement().load_bytes + ...));
    (ptx::tensor_load(base + Input<i>::placement().stage(position.stage), inputs,
                      tile_at.origin(Input<i>::extent()), full[position.stage]),
     ...);
  }
}

//@ if row_tail
__device__ __forceinline__ void compute_tiles(const params::TileGrid<rank>& grid, const params::RowTail<rank>& tail,
                                              u8* shared, u32 base, RingBarriers full, RingBarriers empty,
                                              const TensorMap& output) {
  constexpr u32 columns = tile().at[rank - 1];
//@ else
__device__ __forceinline__ void compute_tiles(const params::TileGrid<rank>& grid, u8* shared, u32 base,
                                              RingBarriers full, RingBarriers empty, const TensorMap& output) {
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
    if (threadIdx.x == 0) {
      ptx::mbarrier::arrive(empty[position.stage]);
//@ if row_tail
      if (tail.begin > column) ptx::tensor_store(output, tile_at.origin(tile()), base + results);
//@ else
      ptx::tensor_store(output, tile_at.origin(tile()), base + results);
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
  const RingBarriers empty{base + barriers + 8 * stages};
  if (threadIdx.x == 0) {
    full.init<stages>(1);
    empty.init<stages>(1);
    ptx::fence_mbarrier_init();
  }
  if (threadIdx.x == compute_threads) {
    // Each launch has tensor maps of its own, which no cache holds yet.
    (ptx::prefetch_tensor_map(inputs), ...);
    ptx::prefetch_tensor_map(output);
  }
  __syncthreads();

  if (threadIdx.x >= compute_threads) {
    if (ptx::elect()) load_tiles(AllInputs{}, grid, base, full, empty, inputs...);
  } else {
//@ if row_tail
    compute_tiles(grid, tail, shared, base, full, empty, output);
//@ else
    compute_tiles(grid, shared, base, full, empty, output);
//@ end
  }
}

}  // namespace tmajit
