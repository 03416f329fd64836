#pragma once

#include <cstdint>
#include <string>

namespace tests {

/// y = factor * x + *bias, by tiles of `rows` rows of `columns` floats.
inline std::string scale_kernel(int columns) {
  return "constexpr int columns = " + std::to_string(columns) + ";" + R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_tensor.cuh"
using namespace tmajit;
struct Factors { float factor; const float* bias; };

template <int rows, class T>
__global__ void scale(const __grid_constant__ TensorMap x, T* y, Factors factors) {
  __shared__ alignas(128) T tile[rows * columns];
  __shared__ u64 word;
  const auto full = Barrier<>(ptx::shared_address(&word)).init(1, threadIdx.x == 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    full.expect(sizeof tile);
    ptx::tensor_load(ptx::shared_address(tile), x, Coordinates<2>{0, static_cast<i32>(rows * blockIdx.x)},
                     full.address());
  }
  full.wait(0);
  for (int i = threadIdx.x; i < rows * columns; i += blockDim.x)
    y[u64(blockIdx.x) * rows * columns + i] = factors.factor * tile[i] + *factors.bias;
}
)";
}

struct Factors {
  float factor;
  const float* bias;
};

}  // namespace tests
