// C = A · B for one tile, by the tensor cores. A (128 × 64) and B (64 × 256) are bf16, loaded by the copy engine
// with SWIZZLE_128B; C is 128 × 256 floats. One CTA has two warpgroups, which compute 64 rows of C each.
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/matrix_tile.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/wgmma_bf16.cuh"

using namespace tmajit;

// A box's rows have at most 128 bytes under SWIZZLE_128B: 64 elements. So one box of 128 rows along K holds A, and
// each warpgroup reads half of it, a TileA. B is four boxes of 64 columns, with rows along N.
using TileA = MatrixTile<u16, MapSwizzle::b128, Major::k, 64, 64>;
using TileB = MatrixTile<u16, MapSwizzle::b128, Major::mn, 64, 64>;
constexpr u32 groups = 2, panels = 4;
constexpr u32 n = 64 * panels;

extern "C" __global__ void __launch_bounds__(128 * groups)
    tensor_cores(float* c, const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map) {
  __shared__ u64 word;
  const u32 a = ptx::shared_address(aligned_shared_memory());
  const u32 b = a + groups * TileA::box_bytes;
  const bool leads = threadIdx.x == 0;

  const auto arrived = Barrier<>(word).init(1, leads);
  __syncthreads();
  if (leads) {
    arrived.expect(groups * TileA::box_bytes + panels * TileB::box_bytes);
    ptx::tensor_load(a, a_map, Coordinates<2>{0, 0}, arrived.address());
    for (u32 panel = 0; panel < panels; ++panel) {
      ptx::tensor_load(b + panel * TileB::box_bytes, b_map, Coordinates<2>{static_cast<i32>(64 * panel), 0},
                       arrived.address());
    }
  }
  arrived.wait(0);

  const u32 group = threadIdx.x / 128, warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  float sums[n / 2];  // a warpgroup's 64 × 256 sums, spread over its 128 threads
  ptx::wgmma_fence();
#pragma unroll
  for (u32 step = 0; step < TileA::steps; ++step) {  // each covers 16 elements along K
    ptx::wgmma_bf16<Sign::kept, Sign::kept, Major::k, Major::mn>(
        sums, TileA::descriptor(a + group * TileA::box_bytes, step), TileB::descriptor(b, step), step > 0);
  }
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();

  // In every 8 columns a thread holds two neighbours in each of two rows.
  const u32 row = group * 64 + warp * 16 + lane / 4;
#pragma unroll
  for (u32 i = 0; i < n / 2; i += 2) {
    const u32 column = i / 4 * 8 + lane % 4 * 2;
    *reinterpret_cast<float2*>(c + (row + i / 2 % 2 * 8) * n + column) = {sums[i], sums[i + 1]};
  }
}
