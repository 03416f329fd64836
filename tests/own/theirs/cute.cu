// Kernels that use CuTe's layouts and CUTLASS's copies and barriers.
#include <cuda.h>
#include <cute/tensor.hpp>
#include <cute/arch/copy_sm90_tma.hpp>
#include <cutlass/arch/barrier.h>

using namespace cute;

/// Transposes a tile by CuTe's tensors: shared memory is row-major, global memory is column-major.
extern "C" __global__ void transpose(const __grid_constant__ CUtensorMap in, float* out) {
  __shared__ alignas(128) float memory[32 * 32];
  __shared__ uint64_t full;
  if (threadIdx.x == 0) {
    initialize_barrier(full, 1);
    cutlass::arch::fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    set_barrier_transaction_bytes(full, sizeof(memory));
    SM90_TMA_LOAD_2D::copy(&in, &full, 0, memory, 0, 0);
  }
  wait_barrier(full, 0);
  const auto tile = make_tensor(make_smem_ptr(memory), make_layout(Shape<_32, _32>{}, LayoutRight{}));
  const auto result = make_tensor(make_gmem_ptr(out), make_layout(Shape<_32, _32>{}, LayoutLeft{}));
  for (int i = threadIdx.x; i < size(tile); i += blockDim.x) {
    const auto at = idx2crd(i, shape(tile));
    result(at) = tile(at);
  }
}

/// Copies a tile out of swizzled shared memory. CuTe's layout has the swizzle of the tensor map.
extern "C" __global__ void unswizzle(const __grid_constant__ CUtensorMap in, float* out) {
  __shared__ alignas(1024) float memory[32 * 32];
  __shared__ uint64_t word;
  auto& full = reinterpret_cast<cutlass::arch::ClusterTransactionBarrier&>(word);
  if (threadIdx.x == 0) {
    full.init(1);
    cutlass::arch::fence_barrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arrive_and_expect_tx(sizeof(memory));
    SM90_TMA_LOAD_2D::copy(&in, &word, 0, memory, 0, 32 * blockIdx.x);
  }
  full.wait(0);
  // In rows of 128 bytes the chunks of 16 bytes (4 floats) are permuted by the row modulo 8.
  const auto swizzled = composition(Swizzle<3, 2, 3>{}, make_layout(Shape<_32, _32>{}, LayoutRight{}));
  const auto tile = make_tensor(make_smem_ptr(memory), swizzled);
  for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x)
    out[1024 * blockIdx.x + i] = tile(i / 32, i % 32);
}

/// One warp loads tiles into three stages and another warp adds them up, with CUTLASS's barriers.
extern "C" __global__ void sum_rows(const __grid_constant__ CUtensorMap in, float* out, int tiles) {
  constexpr int stages = 3;
  __shared__ alignas(128) float memory[stages][8 * 32];
  __shared__ uint64_t words[2 * stages];
  auto* const full = reinterpret_cast<cutlass::arch::ClusterTransactionBarrier*>(words);
  auto* const empty = reinterpret_cast<cutlass::arch::ClusterBarrier*>(words + stages);
  if (threadIdx.x < stages) {
    full[threadIdx.x].init(1);
    empty[threadIdx.x].init(32);
  }
  cutlass::arch::fence_barrier_init();
  __syncthreads();
  if (threadIdx.x >= 32) {
    if (threadIdx.x == 32) {
      for (int i = 0; i < tiles; ++i) {
        const int stage = i % stages;
        empty[stage].wait(i / stages % 2 ^ 1);
        full[stage].arrive_and_expect_tx(sizeof(memory[0]));
        SM90_TMA_LOAD_2D::copy(&in, &words[stage], 0, memory[stage], 0, 8 * i);
      }
    }
    return;
  }
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    const int stage = i % stages;
    full[stage].wait(i / stages % 2);
    const auto tile = make_tensor(make_smem_ptr(memory[stage]), make_layout(Shape<_8, _32>{}, LayoutRight{}));
    for (int row = 0; row < 8; ++row) sum += tile(row, threadIdx.x);
    empty[stage].arrive();
  }
  out[threadIdx.x] = sum;
}
