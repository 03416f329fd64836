// One step of the heat equation on a rod whose ends keep their values. In a chain of such launches each may begin while the
// previous one still runs, and loads in the meantime the data that the previous one does not write: the conductivities.
#include "tmajit/grid.cuh"

using namespace tmajit;

constexpr u32 per_thread = 4;  // consecutive elements that a thread computes

extern "C" __global__ void __launch_bounds__(128)
    step(float* next, const float* now, const float* conductivity, u32 length) {
  ptx::launch_dependents();  // The next grid may begin; it waits for the end of this one before it reads `next`.

  const u32 first = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
  float flow[per_thread];
  for (u32 i = 0; i < per_thread; ++i) flow[i] = first + i < length ? conductivity[first + i] : 0.0F;

  ptx::wait_for_prerequisites();  // The previous step has written `now` and no longer reads `next`.
  for (u32 i = 0; i < per_thread; ++i) {
    const u32 at = first + i;
    if (at >= length) return;
    const bool end = at == 0 || at == length - 1;
    next[at] = end ? now[at] : now[at] + flow[i] * (now[at - 1] - 2 * now[at] + now[at + 1]);
  }
}
