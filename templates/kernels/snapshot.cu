// snapshot: writes the raw shared-memory image of every tile to global memory, as bytes.
//
// The image is what the copy engine wrote to shared memory, with its row pitch and swizzle; bytes that it does
// not write hold `untouched`. Tiles follow each other in row-major order of their position.
#include "tmajit/bulk.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/forward.cuh"

namespace tmajit {

constexpr u32 untouched = 0xcdcdcdcd;

__device__ __forceinline__ void snapshot_tiles(u8* images, const TensorMap& source, const params::TileGrid<rank>& grid) {
  u8* shared = aligned_shared_memory();
  const u32 base = ptx::shared_address(shared);
  u32* words = reinterpret_cast<u32*>(shared + input().offset);
  for (u32 i = threadIdx.x; i < stages * input().stage_bytes / 4; i += 32) words[i] = untouched;
  ptx::fence_proxy_async_shared();
  __syncwarp();

  forward_tiles(grid, base, source, [&](const TileWalk<rank, tiles_per_cta>& tile_at, u32 stage) {
    if (threadIdx.x != 0) return;
    ptx::bulk_store(images + tile_at.number() * input().tile_bytes, base + stage, input().tile_bytes);
  });
}

}  // namespace tmajit
