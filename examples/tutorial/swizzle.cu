// Transposes a matrix of 16-bit elements in tiles of 64 × 64, one for each CTA of 256 threads. The host program
// defines the constant `bool swizzled` before this text: whether tiles are swizzled in shared memory.
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/matrix8x8.cuh"
#include "tmajit/shared_memory.cuh"

using namespace tmajit;

constexpr u32 side = 64;
constexpr u32 row_bytes = 2 * side;  // 128: all 32 banks
constexpr u32 tile_bytes = side * row_bytes;

// Address of chunk c, 0 … 7, of a row: 8 elements, 16 bytes. SWIZZLE_128B permutes the chunks of each row by the
// row's number: chunk c of row r is stored at the position of chunk c ^ r % 8.
__device__ u32 chunk(u32 tile, u32 row, u32 c) {
  return tile + row * row_bytes + (swizzled ? c ^ row % 8 : c) * 16;
}

extern "C" __global__ void __launch_bounds__(256)
    transpose(const __grid_constant__ TensorMap destination, const __grid_constant__ TensorMap source) {
  __shared__ u64 word;
  const u32 in = ptx::shared_address(aligned_shared_memory());  // a multiple of 1024, as the swizzle needs
  const u32 out = in + tile_bytes;
  const bool leads = threadIdx.x == 0;
  const i32 row0 = static_cast<i32>(blockIdx.y * side), column0 = static_cast<i32>(blockIdx.x * side);

  const auto arrived = Barrier<>(word).init(1, leads);
  __syncthreads();
  if (leads) {
    arrived.expect(tile_bytes);
    ptx::tensor_load(in, source, Coordinates<2>{column0, row0}, arrived.address());
  }
  arrived.wait(0);

  // A tile is 8 × 8 matrices of 8 × 8 elements. Each warp takes a column of matrices, four at a time: each lane
  // gives the address of one row of 16 bytes, and the instruction exchanges elements between the lanes.
  const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (u32 matrix = 0; matrix < 8; matrix += 4) {
    u32 words[4];
    ptx::load_matrices_transposed(words, chunk(in, matrix * 8 + lane, warp));
    ptx::store_matrices(chunk(out, warp * 8 + lane % 8, matrix + lane / 8), words);
  }

  ptx::fence_proxy_async_shared();
  __syncthreads();
  if (leads) {
    ptx::tensor_store(destination, Coordinates<2>{row0, column0}, out);
    ptx::commit_group();
    ptx::wait_group_read<0>();
  }
}
