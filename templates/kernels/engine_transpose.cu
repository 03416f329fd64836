// engine_transpose: moves a tensor between two views whose contiguous dimensions differ, `row` the destination's
// and `column` the source's. The copy engine loads, threads store.
//
// A CTA does `stages` tiles, boxes over all dimensions, and loads all of them at once. A tile comes as panels of 128
// bytes along `column`, whose lines follow each other along `row`, with the 128-byte swizzle: the chunk of 16 bytes
// c of line l lies at c ^ l % 8. A thread takes a block, a vector of lines of one chunk, transposes it in registers
// and stores its columns, 16 bytes along `row` each. Eight neighbouring threads share out chunks and lines so that
// they meet all banks (PTX ISA, "Shared memory swizzling modes").
//@ # Facts of the kernel: rank, map_rank, element_bytes, row, column, box, stages, panels, panel_bytes, load_bytes,
//@ # threads, Offset, blocks, source_box, block_index, block_line.
#include "tmajit/block_transpose.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/direct_tile.cuh"
#include "tmajit/engine_grid.cuh"
#include "tmajit/tile_index.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/ring.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map.cuh"

namespace tmajit {

constexpr u32 vector = 16 / element_bytes;

// The chunk of a line in the image of a tile.
__device__ __forceinline__ Vector16 load_chunk(const u8* image, u32 line, u32 chunk) {
  const u32 panel = chunk / 8;
  return load16(image + panel * panel_bytes + line * 128 + ((chunk ^ line) % 8) * 16);
}

__device__ __forceinline__ void store_tile(const params::DirectView<rank>& destination, const TileIndex<rank>& tile,
                                           const u8* image) {
  const DirectTile<rank> part(destination, box(), tile.at);
#pragma unroll 1
  for (u32 n = threadIdx.x; n < blocks; n += threads) {
    u32 index[rank];
    block_index(n, index);
    Offset offset = 0;
    bool exists = true;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      offset += static_cast<Offset>(index[d]) * static_cast<Offset>(d == row ? element_bytes : destination.step[d]);
      exists = exists && static_cast<i32>(index[d]) < part.inside[d];
    }
    if (!exists) continue;
    Block<element_bytes, 16> block;
    const u32 line = block_line(index);
#pragma unroll
    for (u32 i = 0; i < vector; ++i) block.row[i] = load_chunk(image, line + i, index[column] / vector);
    block = transpose(block);
    u8* to = part.origin + offset;
#pragma unroll
    for (u32 j = 0; j < vector; ++j, to += destination.step[column]) {
      if (static_cast<i32>(index[column] + j) < part.inside[column]) store16(to, block.row[j]);
    }
  }
}

__device__ __forceinline__ void engine_transpose(const TensorMap& source, const params::EngineGrid<rank>& grid,
                                                 const params::DirectView<rank>& destination) {
  __shared__ u64 barriers[stages];
  const RingBarriers arrived{ptx::shared_address(barriers)};
  u8* images = aligned_shared_memory();
  const u32 first = blockIdx.x * stages;
  if (threadIdx.x == 0) {
    ptx::prefetch_tensor_map(source);
    arrived.init<stages>(1);
    ptx::fence_mbarrier_init();
#pragma unroll
    for (u32 stage = 0; stage < stages; ++stage) {
      if (first + stage >= grid.count) break;
      Coordinates<map_rank> panel = source_box(grid, TileIndex<rank>(grid, first + stage));
      ptx::mbarrier::arrive_expect_tx(arrived[stage], load_bytes);
#pragma unroll
      for (u32 p = 0; p < panels; ++p, panel.at[0] += panel_columns) {
        ptx::tensor_load(ptx::shared_address(images) + (stage * panels + p) * panel_bytes, source, panel,
                         arrived[stage]);
      }
    }
  }
  __syncthreads();  // the barriers are there

#pragma unroll 1
  for (u32 stage = 0; stage < stages && first + stage < grid.count; ++stage) {
    const TileIndex<rank> tile(grid, first + stage);
    ptx::mbarrier::wait(arrived[stage], 0);
    store_tile(destination, tile, images + stage * panels * panel_bytes);
  }
}

}  // namespace tmajit
