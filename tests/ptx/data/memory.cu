// Every state space, vectors, atomics, fences, barriers and warp-level instructions.
extern __shared__ __align__(1024) unsigned char dynamic[];
__constant__ float factors[8];

__global__ void spaces(float4* a, const float4* __restrict__ b, uchar4* c, double2* d, short2* s, float* o) {
  __shared__ float tile[32][33];
  const int i = threadIdx.x;
  a[i] = b[i];
  c[i] = c[i + 1];
  d[i] = d[i + 1];
  s[i] = s[i + 2];
  tile[i % 32][i / 32] = o[i] * factors[i & 7];
  dynamic[i] = static_cast<unsigned char>(i);
  __syncthreads();
  o[i] = tile[i / 32][i % 32] + dynamic[255 - i] + __ldcg(o + 1) + __ldcs(o + 2);
  __stcg(o + 3, 4.0f);
}

__global__ void warp(unsigned* u, int* s) {
  u[0] = __shfl_xor_sync(~0u, u[1], 1) + __ballot_sync(~0u, u[2] > 3) + __any_sync(~0u, u[3]) +
         __all_sync(~0u, u[4]) + __match_any_sync(~0u, u[5]) + __activemask() + __reduce_add_sync(~0u, u[6]);
  int all;
  u[9] = __match_all_sync(~0u, u[5], &all) + all;
  __syncwarp();
  u[3] += __syncthreads_count(u[2]) + __syncthreads_or(u[5]);
  u[8] = clock() + static_cast<unsigned>(clock64()) + blockIdx.y * gridDim.z;
  __nanosleep(100);
}

__global__ void atomics(unsigned* u, int* s, float* f, double* d, unsigned long long* l) {
  atomicCAS(u + 4, 1u, 2u);
  u[9] = atomicExch(u + 3, 1u) + atomicInc(u + 2, 9u);
  atomicMax(s, 4);
  atomicAdd(f, 1.f);
  atomicAdd(d, 2.0);
  l[2] = atomicAdd(l, 3ull) + atomicAnd_block(l + 1, 7ull);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  __shared__ int sum;
  atomicAdd(&sum, s[3]);
  s[4] = sum;
}
