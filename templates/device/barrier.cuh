// An mbarrier whose type gives its state: uninitialised, ready or invalidated.
//@ #
//@ #   __shared__ u64 word;
//@ #   const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);   // all threads call it; one initialises
//@ #   __syncthreads();                                                  // before any thread uses it
//@ #   if (threadIdx.x == 0) { arrived.expect(bytes); ptx::tensor_load(tile, map, at, arrived.address()); }
//@ #   arrived.wait(0);                                                  // for the phase of parity 0, the first
//@ #   …
//@ #   __syncthreads();
//@ #   arrived.invalidate(threadIdx.x == 0);                             // the memory is free for something else
#pragma once
#include "tmajit/cluster.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/mbarrier.cuh"
#include "tmajit/shared.cuh"

namespace tmajit {

enum class BarrierState { uninitialised, ready, invalidated };

// Fails to compile unless a barrier is ready.
template <BarrierState state> __device__ __forceinline__ constexpr void require_ready() {
  static_assert(state != BarrierState::uninitialised,
                "this barrier was never initialised: use what init() returns");
  static_assert(state != BarrierState::invalidated,
                "this barrier has been invalidated: its memory holds none until it is initialised again");
}

// A barrier in the shared memory of another CTA of the cluster. That CTA must have initialised it (sync_cluster()) and
// must not exit before the arrival.
class RemoteBarrier {
 public:
  __device__ __forceinline__ explicit RemoteBarrier(u32 address) : address_(address) {}
  __device__ __forceinline__ u32 address() const { return address_; }  // .shared::cluster
  __device__ __forceinline__ void arrive() const { ptx::mbarrier::arrive_remote(address_); }
  // Arrives; the remote barrier's phase now waits for `bytes` as well.
  __device__ __forceinline__ void expect(u32 bytes) const { ptx::mbarrier::arrive_expect_tx_remote(address_, bytes); }

 private:
  u32 address_;
};

template <BarrierState state = BarrierState::uninitialised>
class Barrier {
 public:
  // A barrier in 8 bytes of shared memory at a multiple of 8, not yet initialised.
  __device__ __forceinline__ explicit Barrier(u64& word) : Barrier(ptx::shared_address(&word)) {}
  __device__ __forceinline__ explicit Barrier(u32 address) : address_(address) {
    static_assert(state == BarrierState::uninitialised, "a barrier that is ready comes from init()");
  }

  // Returns the ready barrier, with `arrivals` (1 … 2^20 − 1) for each phase. All threads call it; the one whose `mine` is true
  // initialises the barrier. Before any thread uses it, the CTA must synchronise, or the cluster if other CTAs use the barrier.
  [[nodiscard]] __device__ __forceinline__ Barrier<BarrierState::ready> init(u32 arrivals, bool mine) const {
    static_assert(state != BarrierState::ready, "this barrier is ready: invalidate it before it is initialised again");
    if (mine) {
      ptx::mbarrier::init(address_, arrivals);
      ptx::fence_mbarrier_init();
    }
    return Barrier<BarrierState::ready>(address_, Known{});
  }

  // The shared address, for copies of the copy engine.
  __device__ __forceinline__ u32 address() const {
    require_ready<state>();
    return address_;
  }
  __device__ __forceinline__ void arrive() const { ptx::mbarrier::arrive(address()); }
  [[nodiscard]] __device__ __forceinline__ ptx::mbarrier::Token arrive_for_token() const {
    return ptx::mbarrier::arrive_for_token(address());
  }
  // Arrives; the phase now waits for `bytes` as well, which must equal the bytes of the copies.
  __device__ __forceinline__ void expect(u32 bytes) const { ptx::mbarrier::arrive_expect_tx(address(), bytes); }
  [[nodiscard]] __device__ __forceinline__ ptx::mbarrier::Token expect_for_token(u32 bytes) const {
    return ptx::mbarrier::arrive_expect_tx_for_token(address(), bytes);
  }

  // Whether the phase of this parity, or of the token's arrival, is complete. A new barrier is in phase 0.
  [[nodiscard]] __device__ __forceinline__ bool is_complete(u32 parity) const {
    return ptx::mbarrier::test_wait(address(), parity);
  }
  [[nodiscard]] __device__ __forceinline__ bool is_complete(ptx::mbarrier::Token token) const {
    return ptx::mbarrier::test_wait_for(address(), token);
  }
  // Waits until the phase of this parity, or of the token's arrival, is complete.
  __device__ __forceinline__ void wait(u32 parity) const { ptx::mbarrier::wait(address(), parity); }
  __device__ __forceinline__ void wait(ptx::mbarrier::Token token) const { ptx::mbarrier::wait_for(address(), token); }
  // As wait(), if threads of other CTAs arrive: their accesses before the arrival become visible.
  __device__ __forceinline__ void wait_of_cluster(u32 parity) const { ptx::mbarrier::wait_of_cluster(address(), parity); }

  // The barrier at the same offset in CTA `rank` of the cluster.
  [[nodiscard]] __device__ __forceinline__ RemoteBarrier in(u32 rank) const {
    return RemoteBarrier(ptx::map_to_cta(address(), rank));
  }

  // Invalidates the barrier; no thread may use it afterwards. All threads call it; the one whose `mine` is true does it.
  __device__ __forceinline__ Barrier<BarrierState::invalidated> invalidate(bool mine) const {
    if (mine) ptx::mbarrier::invalidate(address());
    return Barrier<BarrierState::invalidated>(address_, Known{});
  }

 private:
  template <BarrierState> friend class Barrier;
  struct Known {};
  template <class K> __device__ __forceinline__ Barrier(u32 address, K) : address_(address) {}

  u32 address_;
};

}  // namespace tmajit
