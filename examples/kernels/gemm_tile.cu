// C = A · B for one tile: A is 128×64 and B 64×256, bf16, brought in by the copy engine with SWIZZLE_128B and
// counted on one mbarrier; C is 128×256 floats. One CTA of 256 threads, a column of C each.
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/mbarrier.cuh"
#include "tmajit/shared_memory.cuh"

using namespace tmajit;

constexpr u32 m = 128, n = 256, k = 64;
constexpr u32 row_bytes = 128;                // the most that a row may have under SWIZZLE_128B
constexpr u32 panel_columns = row_bytes / 2;  // so B comes as four panels of 64 columns
constexpr u32 panels = n / panel_columns;
constexpr u32 a_bytes = m * row_bytes;
constexpr u32 panel_bytes = k * row_bytes;

// Element (row, column) of a tile of 128-byte rows as SWIZZLE_128B lays it out: bits 4–6 of the address, the
// 16-byte chunk in a row, are XORed with bits 7–9, the row modulo 8. The tile starts at a multiple of 1024,
// so its own offsets have the same bits as the addresses.
__device__ float element(const u8* tile, u32 row, u32 column) {
  const u32 offset = row * row_bytes + column * 2;
  const u32 swizzled = offset ^ (offset >> 7 & 7) << 4;
  const u32 bits = *reinterpret_cast<const u16*>(tile + swizzled);
  return __uint_as_float(bits << 16);  // bf16 is the upper half of a float
}

extern "C" __global__ void __launch_bounds__(256)
    gemm_tile(float* c, const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map) {
  __shared__ u64 storage;
  const u32 barrier = ptx::shared_address(&storage);
  u8* const a = aligned_shared_memory();
  u8* const b = a + a_bytes;

  if (threadIdx.x == 0) {
    ptx::mbarrier::init(barrier, 1);
    ptx::fence_mbarrier_init();
    // One arrival, and every byte of the five loads: those that lie out of bounds are filled and count too.
    ptx::mbarrier::arrive_expect_tx(barrier, a_bytes + panels * panel_bytes);
    ptx::tensor_load(ptx::shared_address(a), a_map, Coordinates<2>{0, 0}, barrier);
    for (u32 panel = 0; panel < panels; ++panel) {
      const i32 column = static_cast<i32>(panel * panel_columns);
      ptx::tensor_load(ptx::shared_address(b + panel * panel_bytes), b_map, Coordinates<2>{column, 0},
                       barrier);
    }
  }
  __syncthreads();  // nobody waits on the barrier before it is one
  ptx::mbarrier::wait(barrier, 0);

  const u32 column = threadIdx.x;
  const u8* const panel = b + column / panel_columns * panel_bytes;
  float b_column[k];
#pragma unroll
  for (u32 i = 0; i < k; ++i) b_column[i] = element(panel, i, column % panel_columns);

  for (u32 row = 0; row < m; ++row) {
    float sum = 0;
#pragma unroll
    for (u32 i = 0; i < k; ++i) sum += element(a, row, i) * b_column[i];
    c[row * n + column] = sum;
  }
}
