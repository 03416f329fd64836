#include "sim/speed_kernels.hpp"

namespace tests {

std::string_view speed_source() {
  return R"(
typedef unsigned u32;
typedef unsigned long long u64;
#define KERNEL extern "C" __global__ void
#define ARGUMENTS const u32* __restrict__ a, const u32* __restrict__ b, u32* __restrict__ c, u32 n

__device__ u32 first() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ u32 step() { return gridDim.x * blockDim.x; }

KERNEL triad(ARGUMENTS) {
  const float* x = (const float*)a;
  const float* y = (const float*)b;
  float* z = (float*)c;
  for (u32 i = first(); i < n; i += step()) z[i] = x[i] + 3.0f * y[i];
}

// Copies 16 bytes a thread at a time, through shared memory.
KERNEL copy(ARGUMENTS) {
  __shared__ uint4 s[256];
  for (u32 i = first(); i < n; i += step()) {
    uint4 v = ((const uint4*)a)[i];
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"((u32)__cvta_generic_to_shared(s + threadIdx.x)),
                 "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    ((uint4*)c)[i] = s[threadIdx.x];
  }
}

// c = a · b for matrices of n by n; a thread computes one element of c.
KERNEL sgemm(ARGUMENTS) {
  __shared__ float s[16][16], t[16][16];
  const float* x = (const float*)a;
  const float* y = (const float*)b;
  u32 column = threadIdx.x & 15, row = threadIdx.x >> 4;
  u32 down = blockIdx.x / (n / 16) * 16, right = blockIdx.x % (n / 16) * 16;
  float sum = 0;
  for (u32 k = 0; k < n; k += 16) {
    s[row][column] = x[(down + row) * n + k + column];
    t[row][column] = y[(k + row) * n + right + column];
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < 16; ++i) sum += s[row][i] * t[i][column];
    __syncthreads();
  }
  ((float*)c)[(down + row) * n + right + column] = sum;
}

// Like sgemm; a thread computes four by four elements, whose rows and columns are 16 apart.
KERNEL sgemm_blocked(ARGUMENTS) {
  __shared__ float s[16][64], t[16][64];
  const float* x = (const float*)a;
  const float* y = (const float*)b;
  u32 column = threadIdx.x & 15, row = threadIdx.x >> 4;
  u32 down = blockIdx.x / (n / 64) * 64, right = blockIdx.x % (n / 64) * 64;
  float sum[4][4] = {};
  for (u32 k = 0; k < n; k += 16) {
    for (u32 i = 0; i < 4; ++i) {
      s[column][row + 16 * i] = x[(down + row + 16 * i) * n + k + column];
      t[row][column + 16 * i] = y[(k + row) * n + right + column + 16 * i];
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < 16; ++i) {
#pragma unroll
      for (u32 p = 0; p < 4; ++p) {
#pragma unroll
        for (u32 q = 0; q < 4; ++q) sum[p][q] += s[i][row + 16 * p] * t[i][column + 16 * q];
      }
    }
    __syncthreads();
  }
  for (u32 p = 0; p < 4; ++p) {
    for (u32 q = 0; q < 4; ++q)
      ((float*)c)[(down + row + 16 * p) * n + right + column + 16 * q] = sum[p][q];
  }
}

KERNEL gather(ARGUMENTS) {
  for (u32 i = first(); i < n; i += step()) c[i] = b[a[i] & (n - 1)];
}

KERNEL scatter(ARGUMENTS) {
  for (u32 i = first(); i < n; i += step()) c[(i * 40503u) & (n - 1)] = b[i];
}

// Reads rows of 33 words column by column, so that each lane accesses another line.
KERNEL shared_gather(ARGUMENTS) {
  __shared__ u32 s[8 * 32 * 33];
  u32* own = s + threadIdx.x / 32 * 32 * 33;
  u32 lane = threadIdx.x & 31, sum = 0;
  for (u32 i = 0; i < 32; ++i) own[i * 33 + lane] = b[first() + i];
  __syncwarp();
  for (u32 i = 0; i < n; ++i) {
#pragma unroll 8
    for (u32 j = 0; j < 32; ++j) sum += own[lane * 33 + j];
  }
  c[first()] = sum;
}

KERNEL one_counter(ARGUMENTS) {
  u32 last = 0;
  for (u32 i = 0; i < n; ++i) last += atomicAdd(c, 1u);
  c[first() + 32] = last;
}

KERNEL fenced_counter(ARGUMENTS) {
  u32 last = 0;
  for (u32 i = 0; i < n; ++i) {
    __threadfence();
    last += atomicAdd(c, 1u);
  }
  c[first() + 32] = last;
}
KERNEL last_block(ARGUMENTS) {
  __shared__ bool last;
  u32* const left = c + 64;
  left[first()] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(c, 1u) % gridDim.x == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  u32 sum = 0;
  for (u32 i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) sum += left[i];
  if (threadIdx.x < 32) c[1 + threadIdx.x] = sum;
}

KERNEL histogram(ARGUMENTS) {
  __shared__ u32 counts[64];
  if (threadIdx.x < 64) counts[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = first(); i < n; i += step()) atomicAdd(&counts[a[i] & 63], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&c[threadIdx.x], counts[threadIdx.x]);
}

// Every CTA of a cluster reads what the next one has written.
KERNEL cluster(ARGUMENTS) {
  __shared__ u32 s[256];
  u32 rank, size, sum = 0;
  asm("mov.u32 %0, %%cluster_ctarank; mov.u32 %1, %%cluster_nctarank;" : "=r"(rank), "=r"(size));
  u32 at = (u32)__cvta_generic_to_shared(s), peer;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(at), "r"((rank + 1) % size));
  for (u32 i = 0; i < n; ++i) {
    s[threadIdx.x] = sum + i;
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    for (u32 j = 0; j < 16; ++j) {
      u32 value;
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(peer + (threadIdx.x + j & 255) * 4));
      sum += value;
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  }
  c[first()] = sum;
}

__device__ u32 address(const void* at) { return (u32)__cvta_generic_to_shared(at); }
__device__ void init(u64* barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(barrier)), "r"(count));
}
__device__ void arrive(u64* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(barrier)) : "memory");
}
__device__ void expect(u64* barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)), "r"(bytes)
               : "memory");
}
__device__ void wait(u64* barrier, u32 parity) {
  asm volatile(
      "{.reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra L;}" ::"r"(address(barrier)),
      "r"(parity)
      : "memory");
}

// Each lane's word is passed from warp to warp, through a slot between each two warps.
KERNEL ring(ARGUMENTS) {
  __shared__ u64 full[8], empty[8];
  __shared__ u32 slot[8][32];
  u32 warp = threadIdx.x / 32, lane = threadIdx.x & 31, value = lane;
  if (threadIdx.x < 8) {
    init(&full[threadIdx.x], 32);
    init(&empty[threadIdx.x], 32);
  }
  __syncthreads();
  for (u32 i = 0; i < n; ++i) {
    if (warp > 0) {
      wait(&full[warp - 1], i & 1);
      value += slot[warp - 1][lane];
      arrive(&empty[warp - 1]);
    }
    if (warp < 7) {
      wait(&empty[warp], i & 1 ^ 1);
      slot[warp][lane] = value;
      arrive(&full[warp]);
    }
  }
  c[first()] = value;
}

__device__ void load(void* to, const void* from, u32 bytes, u64* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(to)),
      "l"(from), "r"(bytes), "r"(address(barrier))
      : "memory");
}
__device__ u64 descriptor(u32 at) { return (1ull << 62) | (64ull << 32) | (1ull << 16) | (at >> 4); }
#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
__device__ void product(float (&d)[64], u32 x, u32 y) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
      "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "
      "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
      "}, %64, %65, 1, 1, 1, 0, 0;"
      : D16(0), D16(16), D16(32), D16(48)
      : "l"(descriptor(x)), "l"(descriptor(y)));
}

// Computes 128 by 128 elements of c with a producer and two warpgroups that multiply; there are n stages with
// 64 of k each. a and b have the layout of the stages in shared memory.
KERNEL product_tile(ARGUMENTS) {
  extern __shared__ __align__(1024) unsigned char stages[];
  __shared__ u64 full[4], empty[4];
  const u32 bytes = 128 * 128;
  if (threadIdx.x < 4) {
    init(&full[threadIdx.x], 1);
    init(&empty[threadIdx.x], 256);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    for (u32 k = 0; k < n && threadIdx.x == 0; ++k) {
      u32 stage = k & 3;
      wait(&empty[stage], k >> 2 & 1 ^ 1);
      expect(&full[stage], 2 * bytes);
      load(stages + stage * 2 * bytes, (const char*)a + k * bytes, bytes, &full[stage]);
      load(stages + (stage * 2 + 1) * bytes, (const char*)b + k * bytes, bytes, &full[stage]);
    }
    return;
  }
  u32 group = threadIdx.x / 128 - 1;
  float d[64] = {};
  for (u32 k = 0; k < n; ++k) {
    u32 stage = k & 3;
    u32 x = address(stages) + stage * 2 * bytes + group * bytes / 2;
    u32 y = address(stages) + (stage * 2 + 1) * bytes;
    wait(&full[stage], k >> 2 & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (u32 i = 0; i < 4; ++i) product(d, x + i * 32, y + i * 32);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    arrive(&empty[stage]);
  }
#pragma unroll
  for (u32 i = 0; i < 64; ++i) {
    u32 row = group * 64 + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
    ((float*)c)[blockIdx.x * 128 * 128 + row * 128 + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2] = d[i];
  }
}
)";
}

const std::vector<SpeedKernel>& speed_kernels() {
  static const std::vector<SpeedKernel> kernels{
      {"copy of 16 bytes a thread through shared memory", "copy", 8, 256, 1, speed_words / 4},
      {"triad", "triad", 8, 256, 1, speed_words},
      {"sgemm, an element a thread", "sgemm", 64, 256, 1, 128},
      {"sgemm, 4 by 4 elements a thread", "sgemm_blocked", 16, 256, 1, 256},
      {"gather from global memory", "gather", 8, 256, 1, speed_words / 4},
      {"scatter to global memory", "scatter", 8, 256, 1, speed_words / 4},
      {"gather from shared memory", "shared_gather", 8, 256, 1, 32},
      {"atomics at one address", "one_counter", 8, 256, 1, 256},
      {"fences and atomics at one address", "fenced_counter", 8, 256, 1, 8},
      {"the last of 4096 CTAs sums what all left", "last_block", 4096, 64, 1, 1},
      {"atomics at 64 addresses, shared memory", "histogram", 8, 256, 1, speed_words / 8},
      {"reads of a peer in a cluster of 4", "cluster", 8, 256, 4, 8},
      {"words passed on by mbarriers", "ring", 1, 256, 1, 64},
      {"product tile, 128 by 128 by 64 a stage", "product_tile", 2, 384, 1, 16, 4 * 2 * 128 * 128},
  };
  return kernels;
}

}  // namespace tests
