// CUB's collectives of a block: a radix sort, a scan, a reduction and a histogram.
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>

constexpr int threads = 128;
constexpr int each = 4;

extern "C" __global__ void radix_sort(const unsigned* keys, unsigned* sorted) {
  using Load = cub::BlockLoad<unsigned, threads, each, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<unsigned, threads, each>;
  using Store = cub::BlockStore<unsigned, threads, each, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
  } shared;
  unsigned mine[each];
  const int first = blockIdx.x * threads * each;
  Load(shared.load).Load(keys + first, mine);
  __syncthreads();
  Sort(shared.sort).Sort(mine);
  __syncthreads();
  Store(shared.store).Store(sorted + first, mine);
}

extern "C" __global__ void scan(const int* values, int* sums, int count) {
  using Load = cub::BlockLoad<int, threads, each, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, threads, cub::BLOCK_SCAN_RAKING>;
  using Store = cub::BlockStore<int, threads, each, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } shared;
  int mine[each];
  Load(shared.load).Load(values, mine, count, 0);
  __syncthreads();
  Scan(shared.scan).ExclusiveSum(mine, mine);
  __syncthreads();
  Store(shared.store).Store(sums, mine, count);
}

extern "C" __global__ void reduce(const float* values, float* sum, float* largest, int count) {
  using Sum = cub::BlockReduce<float, threads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  using Largest = cub::WarpReduce<float>;
  __shared__ typename Sum::TempStorage for_sum;
  __shared__ typename Largest::TempStorage for_largest[threads / 32];
  float mine = 0;
  float most = -1e30f;
  for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
    mine += values[i];
    most = fmaxf(most, values[i]);
  }
  const float all = Sum(for_sum).Sum(mine);
  if (threadIdx.x == 0) atomicAdd(sum, all);
  most = Largest(for_largest[threadIdx.x / 32]).Reduce(most, [](float a, float b) { return fmaxf(a, b); });
  if (threadIdx.x % 32 == 0) largest[blockIdx.x * (threads / 32) + threadIdx.x / 32] = most;
}

extern "C" __global__ void histogram(const unsigned char* values, int* counts) {
  using Histogram = cub::BlockHistogram<unsigned char, threads, each, 64, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ typename Histogram::TempStorage shared;
  __shared__ int mine[64];
  unsigned char values_of_thread[each];
  for (int i = 0; i < each; ++i) values_of_thread[i] = values[(blockIdx.x * threads + threadIdx.x) * each + i];
  Histogram(shared).Histogram(values_of_thread, mine);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(counts + threadIdx.x, mine[threadIdx.x]);
}
