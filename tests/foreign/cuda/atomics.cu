// Atomics of every width and type that sm_90 has, with the orders and scopes of the memory model.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void of_halves(__half2* halves, __nv_bfloat16* bfloats, float4* vectors, double* doubles) {
  const int at = threadIdx.x % 8;
  atomicAdd(halves + at, __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(bfloats + at, __float2bfloat16(0.5f));
  atomicAdd(vectors + at, make_float4(1.0f, 2.0f, 3.0f, 4.0f));
  atomicAdd(doubles + at, 0.25);
}

struct alignas(16) Pair {
  unsigned long long count;
  unsigned long long sum;
};

// Increments a pair by compare-and-swap of all its 16 bytes.
extern "C" __global__ void of_pairs(Pair* pairs) {
  Pair* pair = pairs + threadIdx.x % 4;
  Pair seen = *pair;
  Pair expected;
  do {
    expected = seen;
    seen = atomicCAS(pair, expected, Pair{expected.count + 1, expected.sum + threadIdx.x});
  } while (seen.count != expected.count || seen.sum != expected.sum);
}

extern "C" __global__ void of_scopes(unsigned* words) {
  atomicInc_block(words, 6);
  atomicDec_system(words + 1, 9);
  atomicMax(reinterpret_cast<int*>(words) + 2, static_cast<int>(threadIdx.x) - 7);
  atomicXor(words + 3, 1U << threadIdx.x % 32);
  __nv_atomic_fetch_add(words + 4, 2U, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_or(words + 5, 1U << threadIdx.x % 32, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_CLUSTER);
}
