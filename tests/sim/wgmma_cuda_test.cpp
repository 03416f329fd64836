/// A product of matrices in CUDA C++: the compiler's PTX runs, gives the right result, and has no report.
#include "sim/cuda_support.hpp"
#include "sim/text_kernel.hpp"

namespace wgmma_cuda_test {

using namespace tmajit;
using namespace tests::text;

namespace {

const char* const gemm = R"(
// A warpgroup multiplies 64 x 64 by 64 x 16 elements of bf16, twice, in steps of 16 in k. B is stored by
// columns.
__device__ unsigned long long descriptor(unsigned address) {
  return (1ull << 62) | (64ull << 32) | (1ull << 16) | (address >> 4);
}
__device__ void product(float (&d)[8], unsigned a, unsigned b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
      : "l"(descriptor(a)), "l"(descriptor(b)));
}
__device__ unsigned short bf16(int value) { return (unsigned short)(__float_as_uint((float)value) >> 16); }
extern "C" __global__ void __launch_bounds__(128) k(int* out) {
  __shared__ alignas(1024) unsigned char a[2][64 * 128];
  __shared__ alignas(1024) unsigned char b[2][16 * 128];
  for (int stage = 0; stage < 2; ++stage) {
    for (int i = threadIdx.x; i < 64 * 64; i += 128) {
      unsigned at = i / 64 * 128 + i % 64 * 2;
      at ^= (at >> 7 & 7) << 4;
      *(unsigned short*)(a[stage] + at) = bf16((i * 7 + stage) % 5 - 2);
      if (i < 16 * 64) *(unsigned short*)(b[stage] + at) = bf16((i * 3 + stage) % 7 - 3);
    }
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  unsigned a_address = (unsigned)__cvta_generic_to_shared(a), b_address = (unsigned)__cvta_generic_to_shared(b);
  float d[8] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int stage = 0; stage < 2; ++stage) {
#pragma unroll
    for (int step = 0; step < 4; ++step)
      product(d, a_address + stage * 64 * 128 + step * 32, b_address + stage * 16 * 128 + step * 32);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 8; ++i) {
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
    out[row * 16 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = (int)d[i];
  }
}
)";

}  // namespace

TEST_CASE("a product of several steps in k and several stages, compiled by NVRTC, is right") {
  const auto outcome = tests::run_cuda(gemm, 128, false, {.mode = any_mode(), .seed = 5});
  INFO(outcome.text);
  CHECK(outcome.reports.empty());
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 16; ++column) {
      int sum = 0;
      for (int stage = 0; stage < 2; ++stage) {
        for (int k = 0; k < 64; ++k)
          sum += (((row * 64 + k) * 7 + stage) % 5 - 2) * (((column * 64 + k) * 3 + stage) % 7 - 3);
      }
      CHECK(outcome.words[static_cast<std::size_t>(row * 16 + column)] == sum);
    }
  }
}

}  // namespace wgmma_cuda_test
