// y = factor * x + *bias: each CTA loads `rows` rows of 32 columns by one tensor load. The launch defines the constant
// `rows`.
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_tensor.cuh"

#include "factors.cuh"

using namespace tmajit;

template <int rows, class T>
__global__ void __launch_bounds__(64) scale(const __grid_constant__ TensorMap x, T* y, u32 all_rows, Factors<T> factors) {
  __shared__ alignas(128) T tile[rows * 32];
  __shared__ u64 word;
  const auto full = Barrier<>(ptx::shared_address(&word)).init(1, threadIdx.x == 0);
  __syncthreads();
  const u32 row = rows * blockIdx.x;
  if (threadIdx.x == 0) {
    full.expect(sizeof tile);
    ptx::tensor_load(ptx::shared_address(tile), x, Coordinates<2>{0, static_cast<i32>(row)}, full.address());
  }
  full.wait(0);
  const u32 count = min(u32(rows), all_rows - row) * 32;
  for (u32 i = threadIdx.x; i < count; i += blockDim.x) y[row * 32 + i] = factors.factor * tile[i] + *factors.bias;
}
