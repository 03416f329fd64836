// Matrix products by nvcuda::wmma: tiles in shared memory with padded rows, accumulators that are loaded and
// scaled, and fragments of other types and shapes than 16 by 16 of f16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// C = 2 A B + C of 32 by 32 elements, by four warps. A is 32 by 64 and row-major, B is 64 by 32 and
// column-major.
extern "C" __global__ void halves(const __half* a, const __half* b, float* c) {
  constexpr int pitch = 64 + 8;
  __shared__ alignas(32) __half left[32 * pitch], right[32 * pitch];
  for (int i = threadIdx.x; i < 32 * 64; i += blockDim.x) {
    left[i / 64 * pitch + i % 64] = a[i];
    right[i / 64 * pitch + i % 64] = b[i];
  }
  __syncthreads();
  const int row = threadIdx.x / 64 * 16, column = threadIdx.x / 32 % 2 * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < 64; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
    wmma::load_matrix_sync(x, left + row * pitch + k, pitch);
    wmma::load_matrix_sync(y, right + column * pitch + k, pitch);
    wmma::mma_sync(sum, x, y, sum);
  }
  float* const mine = c + row * 32 + column;
  wmma::load_matrix_sync(old, mine, 32, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = 2 * sum.x[i] + old.x[i];
  wmma::store_matrix_sync(mine, sum, 32, wmma::mem_row_major);
}

// 8 by 32 by 16 of i8 with saturated sums, and 32 by 8 by 16 of bf16.
extern "C" __global__ void wide(const signed char* a, const signed char* b, int* c, const __nv_bfloat16* d,
                                const __nv_bfloat16* e, float* f) {
  if (threadIdx.x < 32) {
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
    wmma::fill_fragment(sum, 0x7fffff00);
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 32);
    wmma::mma_sync(sum, x, y, sum, true);
    wmma::store_matrix_sync(c, sum, 32, wmma::mem_row_major);
  } else {
    wmma::fragment<wmma::matrix_a, 32, 8, 16, __nv_bfloat16, wmma::col_major> x;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, __nv_bfloat16, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(x, d, 32);
    wmma::load_matrix_sync(y, e, 16);
    wmma::mma_sync(sum, x, y, sum);
    wmma::store_matrix_sync(f, sum, 32, wmma::mem_col_major);
  }
}

// 16 by 16 by 8 of tf32, 8 by 8 by 4 of f64, and 8 by 8 by 128 of single bits: counts of bits set in both
// rows.
extern "C" __global__ void narrow(const float* a, const float* b, float* c, const double* d, double* e, const unsigned* f, int* g) {
  {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(x, a, 8);
    wmma::load_matrix_sync(y, b, 16);
    for (int i = 0; i < x.num_elements; ++i) x.x[i] = wmma::__float_to_tf32(x.x[i]);
    for (int i = 0; i < y.num_elements; ++i) y.x[i] = wmma::__float_to_tf32(y.x[i]);
    wmma::mma_sync(sum, x, y, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
  }
  {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum;
    wmma::fill_fragment(sum, 0.25);
    wmma::load_matrix_sync(x, d, 4);
    wmma::load_matrix_sync(y, d, 4);
    wmma::mma_sync(sum, x, y, sum);
    wmma::store_matrix_sync(e, sum, 8, wmma::mem_row_major);
  }
  {
    using wmma::experimental::precision::b1;
    wmma::fragment<wmma::matrix_a, 8, 8, 128, b1, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, b1, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(x, f, 128);
    wmma::load_matrix_sync(y, f, 128);
    wmma::bmma_sync(sum, x, y, sum, wmma::experimental::bmmaBitOpAND);
    wmma::store_matrix_sync(g, sum, 8, wmma::mem_row_major);
  }
}
