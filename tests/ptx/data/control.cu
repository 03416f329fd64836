// Calls, recursion, pointers to functions, branches, local memory, printf and assert.
#include <cassert>
#include <cstdio>

struct Mixed {
  int i;
  double d;
  char c[3];
};
__device__ Mixed mixed = {1, 2.0, {1, 2, 3}};
__device__ const char* greeting = "hello";
__constant__ int table[4] = {1, 2, 3};
__device__ const int* third = &table[2];

__device__ __noinline__ int use(int a, Mixed m) { return a + m.i + static_cast<int>(m.d) + m.c[1]; }
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? 1 : fibonacci(n - 1) + fibonacci(n - 2); }

using Function = float (*)(float);
__device__ float next(float x) { return x + 1; }
__device__ float twice(float x) { return x * 2; }
__device__ Function functions[2] = {next, twice};

__global__ void __launch_bounds__(256, 2) speak(int n) {
  printf("n = %d, %f\n", n, 2.0 * n);
  assert(n < 100);
  if (n == 7) __trap();
}

__global__ void call(const __grid_constant__ Mixed m, int* out) {
  out[threadIdx.x] = use(3, m) + fibonacci(m.i) + m.c[threadIdx.x];
}

__global__ void __cluster_dims__(2, 1, 1) choose(int v, int* out) {
  switch (v) {
    case 0: out[0] = use(1, mixed); break;
    case 1: out[3] = *third; break;
    case 2: out[5] = fibonacci(9); break;
    case 3: out[0] = greeting[1]; break;
    default: out[2] = 1;
  }
}

__global__ void indirect(float* x, int i) {
  x[0] = functions[i](x[1]);
  float local[64];
  for (int j = 0; j < 64; ++j) local[j] = x[j];
  x[3] = local[i];
}
