// Compiled with -G: debug sections, and local memory for every variable.
template <class T>
__device__ T square(T x) {
  return x * x;
}
__global__ void squares(double* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = square(out[i]);
}
