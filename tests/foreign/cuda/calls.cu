// Calls that a compiler cannot inline: virtual functions, function pointers, recursion, malloc() on the
// device, printf() and assert().
#include <cassert>
#include <cstdio>

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Rectangle : Shape {
  float width, height;
  __device__ Rectangle(float w, float h) : width(w), height(h) {}
  __device__ float area() const override { return width * height; }
};

extern "C" __global__ void virtual_calls(const float* sizes, float* areas) {
  const Square square(sizes[threadIdx.x]);
  const Rectangle rectangle(sizes[threadIdx.x], 2.0f);
  const Shape* const shape = threadIdx.x % 3 == 0 ? static_cast<const Shape*>(&square) : &rectangle;
  areas[threadIdx.x] = shape->area();
}

__device__ int doubled(int x) { return 2 * x; }
__device__ int squared(int x) { return x * x; }
__device__ int (*const functions[])(int) = {doubled, squared};

extern "C" __global__ void pointers(const int* in, int* out) {
  out[threadIdx.x] = functions[in[threadIdx.x] % 2](in[threadIdx.x]);
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(int* out) { out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 4); }

extern "C" __global__ void heap(const int* in, int* out) {
  int* const mine = static_cast<int*>(malloc(4 * sizeof(int)));
  assert(mine != nullptr);
  for (int i = 0; i < 4; ++i) mine[i] = in[threadIdx.x] + i;
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += mine[i];
  free(mine);
  if (sum < 0) printf("thread %u: %d\n", threadIdx.x, sum);
  out[threadIdx.x] = sum;
}
