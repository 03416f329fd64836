// Work within warps in the style of CUB: a transposition through shared memory with __syncwarp, a scan by shuffles, a match of
// equal keys, and a ballot of the active lanes.
#include "inline_ptx.cuh"

extern "C" __global__ void warp_tiles(const int* in, int* out, int* ranks, int* counts) {
  __shared__ int tile[2][32 * 4];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int mine[4];
  for (int i = 0; i < 4; ++i) tile[warp][i * 32 + lane] = in[warp * 128 + i * 32 + lane];
  __syncwarp();
  for (int i = 0; i < 4; ++i) mine[i] = tile[warp][lane * 4 + i];
  int sum = mine[0] + mine[1] + mine[2] + mine[3];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += other;
  }
  __syncwarp();
  tile[warp][31 - lane] = sum;
  __syncwarp();
  out[threadIdx.x] = tile[warp][lane];
  const u32 same = __match_any_sync(0xffffffff, mine[0]);
  ranks[threadIdx.x] = __popc(same & ((1U << lane) - 1));
  const u32 odd = __ballot_sync(0xffffffff, mine[0] % 2 != 0);
  if (mine[0] % 2 != 0) {
    const int largest = __reduce_max_sync(odd, mine[1]);
    const int first = __shfl_sync(odd, mine[2], __ffs(odd) - 1);
    counts[threadIdx.x] = largest + first;
  }
  __syncwarp();
  ranks[threadIdx.x] += out[threadIdx.x ^ 1];
}
