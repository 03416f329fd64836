// The threads that share a row: which rows and elements they take, and how they combine their states of a reduction.
//@ # A team has `size` threads, of which this one has number `index`. first_row() and rows() give the CTA's rows, or its first
//@ # ones: it takes rows() rows at once, `rows_at_once` times. combined() returns the same state to all threads of the row, in
//@ # an order that does not depend on timing; each `step` has its own shared memory, so that no barrier is needed after it.
//@ # prepare() comes between the first loads and the first combined(). rank() is the CTA's number in the team. `lanes_only`: the
//@ # lanes of a warp share a row. Facts of the kernel: rows_at_once, max_threads, cluster.
#pragma once
#include "tmajit/cluster.cuh"
#include "tmajit/mbarrier.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/row_plan.cuh"
#include "tmajit/shared.cuh"
#include "tmajit/shuffles.cuh"
#include "tmajit/store_async.cuh"

namespace tmajit {

// Combines the states of `lanes` neighbouring lanes, a power of two.
template <class Reduced>
__device__ __forceinline__ typename Reduced::State combined_lanes(typename Reduced::State state, u32 lanes) {
#pragma unroll 1
  for (u32 bit = lanes / 2; bit > 0; bit /= 2) state = Reduced::combine(state, state_across(state, bit));
  return state;
}

// `size` neighbouring lanes of a warp, a power of two.
struct LaneTeam {
  static constexpr bool lanes_only = true;
  u32 size;
  u32 index;

  __device__ __forceinline__ explicit LaneTeam(u32 threads) : size(threads), index(threadIdx.x & (threads - 1)) {}
  __device__ __forceinline__ u32 log2_size() const { return static_cast<u32>(31 - __clz(static_cast<int>(size))); }
  __device__ __forceinline__ u32 rows() const { return blockDim.x >> log2_size(); }
  __device__ __forceinline__ u64 first_row() const { return u64{blockIdx.x} * rows() * rows_at_once + (threadIdx.x >> log2_size()); }
  __device__ __forceinline__ void prepare() const {}
  template <class Reduced, u32 step>
  __device__ __forceinline__ typename Reduced::State combined(typename Reduced::State state) const {
    return combined_lanes<Reduced>(state, size);
  }
};

// Combines the states of all threads of the CTA.
template <class Reduced, u32 step>
__device__ __forceinline__ typename Reduced::State combined_cta(typename Reduced::State state) {
  using State = typename Reduced::State;
  __shared__ State of_warp[32];
  state = combined_lanes<Reduced>(state, 32);
  if (blockDim.x == 32) return state;
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = state;
  __syncthreads();
  return combined_lanes<Reduced>(threadIdx.x % 32 < blockDim.x / 32 ? of_warp[threadIdx.x % 32] : Reduced::identity(), 32);
}

// All threads of a CTA.
struct CtaTeam {
  static constexpr bool lanes_only = false;
  u32 size;
  u32 index;

  __device__ __forceinline__ explicit CtaTeam(u32) : size(blockDim.x), index(threadIdx.x) {}
  __device__ __forceinline__ u32 rank() const { return 0; }
  __device__ __forceinline__ u32 rows() const { return 1; }
  __device__ __forceinline__ u64 first_row() const { return blockIdx.x; }
  __device__ __forceinline__ void prepare() const {}
  template <class Reduced, u32 step>
  __device__ __forceinline__ typename Reduced::State combined(typename Reduced::State state) const {
    return combined_cta<Reduced, step>(state);
  }
};

// All threads of a cluster. Each CTA sends its state to all CTAs of the cluster; a barrier of each reduction counts the bytes.
struct ClusterTeam {
  static constexpr bool lanes_only = false;
  u32 size;
  u32 index;
  u32 barriers;  // shared address

  __device__ __forceinline__ explicit ClusterTeam(u32) : size(blockDim.x * cluster), index(ptx::cluster_ctarank() * blockDim.x + threadIdx.x) {
    __shared__ u64 words[reductions];
    barriers = ptx::shared_address(words);
    if (threadIdx.x < reductions) ptx::mbarrier::init(barriers + 8 * threadIdx.x, 1);
    if (threadIdx.x < reductions) ptx::fence_mbarrier_init();
  }
  __device__ __forceinline__ u32 rows() const { return 1; }
  __device__ __forceinline__ u64 first_row() const { return blockIdx.x / cluster; }
  __device__ __forceinline__ u32 rank() const { return ptx::cluster_ctarank(); }
  // Waits until the barriers of all CTAs exist.
  __device__ __forceinline__ void prepare() const { ptx::sync_cluster(); }

  template <class Reduced, u32 step>
  __device__ __forceinline__ typename Reduced::State combined(typename Reduced::State state) const {
    using State = typename Reduced::State;
    struct alignas(sizeof(State)) Slot {
      u32 word[sizeof(State) / 4];
    };
    __shared__ Slot of_cta[cluster];
    const u32 barrier = barriers + 8 * step;
    if (threadIdx.x == 0) ptx::mbarrier::arrive_expect_tx(barrier, sizeof(of_cta));
    const Slot mine = __builtin_bit_cast(Slot, combined_cta<Reduced, step>(state));
    if (threadIdx.x < cluster) {
      const u32 to = ptx::map_to_cta(ptx::shared_address(of_cta) + ptx::cluster_ctarank() * sizeof(Slot), threadIdx.x);
      const u32 remote_barrier = ptx::map_to_cta(barrier, threadIdx.x);
      if constexpr (sizeof(Slot) == 4) {
        ptx::store_async(to, mine.word[0], remote_barrier);
      } else {
        ptx::store_async(to, mine.word, remote_barrier);
      }
    }
    ptx::mbarrier::wait_of_cluster(barrier, 0);
    const State received = threadIdx.x % 32 < cluster ? __builtin_bit_cast(State, of_cta[threadIdx.x % 32]) : Reduced::identity();
    return combined_lanes<Reduced>(received, 32);
  }
};

// Threads of a CTA that are `columns` apart: neighbouring threads take neighbouring rows.
struct ColumnTeam {
  static constexpr bool lanes_only = false;
  u32 size;
  u32 index;
  u32 columns;

  __device__ __forceinline__ explicit ColumnTeam(u32 threads) : size(threads), columns(blockDim.x / threads) { index = threadIdx.x / columns; }
  __device__ __forceinline__ u32 rows() const { return columns; }
  __device__ __forceinline__ u64 first_row() const { return u64{blockIdx.x} * columns * rows_at_once + threadIdx.x % columns; }
  __device__ __forceinline__ void prepare() const {}
  template <class Reduced, u32 step>
  __device__ __forceinline__ typename Reduced::State combined(typename Reduced::State state) const {
    using State = typename Reduced::State;
    __shared__ State of_thread[max_threads];
    if (size == 1) return state;
    of_thread[threadIdx.x] = state;
    __syncthreads();
    state = of_thread[threadIdx.x % columns];
#pragma unroll 1
    for (u32 n = 1; n < size; ++n) state = Reduced::combine(state, of_thread[n * columns + threadIdx.x % columns]);
    return state;
  }
};

}  // namespace tmajit
