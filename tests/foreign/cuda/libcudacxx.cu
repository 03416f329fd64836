// Barriers, pipelines, atomics and bulk copies of libcu++.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/std/span>

#include <cooperative_groups.h>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Warp 0 loads tiles, and the other warps add one to each element. Each of the two stages has one barrier for
// "full" and one for "free again".
extern "C" __global__ void producer_consumer(const int* in, int* out, int tiles) {
  constexpr int tile = 96;
  __shared__ int stages[2][tile];
  __shared__ Barrier full[2];
  __shared__ Barrier free_again[2];
  const int warp = threadIdx.x / 32;
  if (threadIdx.x < 2) {
    init(&full[threadIdx.x], blockDim.x);
    init(&free_again[threadIdx.x], blockDim.x);
  }
  __syncthreads();
  if (warp == 0) {
    for (int t = 0; t < tiles; ++t) {
      free_again[t % 2].arrive_and_wait();
      for (int i = threadIdx.x; i < tile; i += 32) stages[t % 2][i] = in[t * tile + i];
      (void)full[t % 2].arrive();
    }
  } else {
    (void)free_again[0].arrive();
    (void)free_again[1].arrive();
    for (int t = 0; t < tiles; ++t) {
      full[t % 2].arrive_and_wait();
      const int i = threadIdx.x - 32;
      out[t * tile + i] = stages[t % 2][i] + 1;
      (void)free_again[t % 2].arrive();
    }
  }
}

// cuda::memcpy_async in a pipeline of two stages that the whole block shares.
extern "C" __global__ void pipeline(const int4* in, int4* out, int tiles) {
  constexpr int tile = 64;
  __shared__ int4 stages[2][tile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int loaded = 0, t = 0; t < tiles; ++t) {
    for (; loaded < tiles && loaded < t + 2; ++loaded) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stages[loaded % 2], in + loaded * tile, cuda::aligned_size_t<16>(sizeof(int4) * tile), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    int4 mine = stages[t % 2][threadIdx.x];
    mine.x += mine.w;
    out[t * tile + threadIdx.x] = mine;
    pipe.consumer_release();
  }
}

// The bulk copy of CUDA's guide: one thread starts the load, all threads wait and change the tile, one thread
// stores it.
extern "C" __global__ void bulk_copy(int* data, int count) {
  constexpr int tile = 256;
  __shared__ alignas(16) int values[tile];
  __shared__ Barrier full;
  if (threadIdx.x == 0) {
    init(&full, blockDim.x);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  const int first = blockIdx.x * tile;
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::device::memcpy_async_tx(values, data + first, cuda::aligned_size_t<16>(sizeof values), full);
    token = cuda::device::barrier_arrive_tx(full, 1, sizeof values);
  } else {
    token = full.arrive();
  }
  full.wait(cuda::std::move(token));
  for (int i = threadIdx.x; i < tile; i += blockDim.x) values[i] = 3 * values[i] + 1;
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0 && first < count) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, data + first, values, sizeof values);
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }
}

// A running sum over blocks: each block publishes its sum, then looks back until it knows the sum of all
// blocks before it.
extern "C" __global__ void look_back(const int* in, int* out, unsigned long long* status, unsigned* ticket) {
  __shared__ unsigned block;
  __shared__ int before;
  __shared__ int sums[128];
  if (threadIdx.x == 0) block = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*ticket).fetch_add(1);
  __syncthreads();
  const unsigned mine = block * 128 + threadIdx.x;
  sums[threadIdx.x] = in[mine];
  __syncthreads();
  for (int step = 1; step < 128; step *= 2) {
    const int more = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
    __syncthreads();
    sums[threadIdx.x] += more;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    using Status = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
    const unsigned own = static_cast<unsigned>(sums[127]);
    int sum = 0;
    if (block != 0) {
      Status(status[block]).store(1ULL << 32 | own, cuda::memory_order_release);
      for (unsigned b = block; b-- > 0;) {
        unsigned long long word = 0;
        while (word >> 32 == 0) word = Status(status[b]).load(cuda::memory_order_acquire);
        sum += static_cast<int>(static_cast<unsigned>(word));
        if (word >> 32 == 2) break;
      }
    }
    Status(status[block]).store(2ULL << 32 | static_cast<unsigned>(sum + static_cast<int>(own)), cuda::memory_order_release);
    before = sum;
  }
  __syncthreads();
  out[mine] = before + sums[threadIdx.x];
}
