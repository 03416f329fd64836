// Transposes a matrix of floats in tiles of 32×32, one for each CTA. The copy engine loads and stores the tiles;
// the transposition in shared memory has no bank conflicts.
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/mbarrier.cuh"
#include "tmajit/shared_memory.cuh"

using namespace tmajit;

constexpr u32 side = 32;
constexpr u32 tile_bytes = side * side * 4;

// Element (row, column) of a tile whose 128-byte rows SWIZZLE_128B has permuted. The tile starts at a
// multiple of 1024 bytes.
__device__ float& element(u8* tile, u32 row, u32 column) {
  const u32 offset = row * 128 + column * 4;
  return *reinterpret_cast<float*>(tile + (offset ^ (offset >> 7 & 7) << 4));
}

extern "C" __global__ void __launch_bounds__(256)
    transpose(const __grid_constant__ TensorMap destination, const __grid_constant__ TensorMap source) {
  __shared__ u64 storage;
  const u32 barrier = ptx::shared_address(&storage);
  u8* const in = aligned_shared_memory();
  u8* const out = in + tile_bytes;
  const i32 row0 = static_cast<i32>(blockIdx.y * side);
  const i32 column0 = static_cast<i32>(blockIdx.x * side);

  if (threadIdx.x == 0) {
    ptx::mbarrier::init(barrier, 1);
    ptx::fence_mbarrier_init();
    ptx::mbarrier::arrive_expect_tx(barrier, tile_bytes);
    ptx::tensor_load(ptx::shared_address(in), source, Coordinates<2>{column0, row0}, barrier);
  }
  __syncthreads();
  ptx::mbarrier::wait(barrier, 0);

  // The lanes of a warp take a diagonal. With the swizzle its 32 elements are in 32 different banks, and so are
  // the 32 addresses that they are written to.
  const u32 lane = threadIdx.x % 32;
  for (u32 diagonal = threadIdx.x / 32; diagonal < side; diagonal += blockDim.x / 32) {
    const u32 row = (diagonal + lane) % side;
    element(out, lane, row) = element(in, row, lane);
  }

  // Every thread makes its writes visible to the copy engine's proxy, then one thread issues the store.
  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::tensor_store(destination, Coordinates<2>{row0, column0}, ptx::shared_address(out));
    ptx::commit_group();
    ptx::wait_group<0>();  // the store must have read shared memory before the CTA ends
  }
}
