// Products of 16 x 8 x 16 in the style of CUTLASS's kernels for Ampere: every thread copies 16 bytes by cp.async, some stages
// ahead. After a barrier the threads load matrices that other threads copied.
#include "inline_ptx.cuh"

constexpr int threads = 64;
constexpr int stages = 3;
constexpr int tile = threads * 8;  // halves: 64 rows of 8

extern "C" __global__ void cutlass_multistage(const u16* source, float* out, int tiles) {
  __shared__ alignas(128) u16 memory[stages][tile];
  const int lane = threadIdx.x % 32;
  for (int t = 0; t < stages - 1; ++t) {
    if (t < tiles) cp_async_16(&memory[t][threadIdx.x * 8], source + t * tile + threadIdx.x * 8);
    cp_async_fence();
  }
  float d[4] = {};
  for (int t = 0; t < tiles; ++t) {
    cp_async_wait<stages - 2>();
    __syncthreads();
    // The copy overwrites the previous tile, which all warps have finished using.
    const int next = t + stages - 1;
    if (next < tiles) cp_async_16(&memory[next % stages][threadIdx.x * 8], source + next * tile + threadIdx.x * 8);
    cp_async_fence();
    u32 a[4], b[2];
    const u32 a_address = shared_address(&memory[t % stages][lane * 8]);
    const u32 b_address = shared_address(&memory[t % stages][(32 + lane % 16) * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(a_address)
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(b[0]), "=r"(b[1]) : "r"(b_address) : "memory");
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];
}
