// mbarrier: a barrier in shared memory that counts arrivals and bytes.
// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
//
// A phase completes when its pending arrivals are zero and its transaction count is zero. Waiting is by the
// parity of the phase: a new barrier is in phase 0, so wait(barrier, 0) waits for the first completion, and
// wait(barrier, 1) returns at once.
// Every function takes the 8-byte-aligned shared address of the barrier.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx::mbarrier {

// mbarrier.init: `arrivals` (1 … 2^20 − 1) a phase. Follow it with fence_mbarrier_init() and a CTA barrier
// before anyone else, the copy engine included, uses the barrier.  PTX 7.0, sm_80.
__device__ __forceinline__ void init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// mbarrier.inval: the memory may be used for something else afterwards.  PTX 7.0, sm_80.
__device__ __forceinline__ void invalidate(u32 barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// mbarrier.arrive: one arrival, release at CTA scope.  PTX 7.0, sm_80.
__device__ __forceinline__ void arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// mbarrier.expect_tx: the phase now waits for `bytes` more; not an arrival.  PTX 8.0, sm_90.
__device__ __forceinline__ void expect_tx(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// mbarrier.arrive.expect_tx: both in one; `bytes` must be what the copies deliver.  PTX 8.0, sm_90.
__device__ __forceinline__ void arrive_expect_tx(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// mbarrier.test_wait.parity: whether the phase of this parity has completed; never sleeps.  PTX 7.1, sm_80.
__device__ __forceinline__ bool test_wait(u32 barrier, u32 parity) {
  u32 done;
  asm volatile(
      "{\n\t"
      ".reg .pred done;\n\t"
      "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, done;\n\t"
      "}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done;
}

// mbarrier.try_wait.parity: the same, but the thread may sleep for a time that the system chooses.
// Acquire at CTA scope: what the copy engine delivered is visible when it returns true.  PTX 7.8, sm_90.
__device__ __forceinline__ bool try_wait(u32 barrier, u32 parity) {
  u32 done;
  asm volatile(
      "{\n\t"
      ".reg .pred done;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, done;\n\t"
      "}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done;
}

// Returns when the phase of this parity has completed.
__device__ __forceinline__ void wait(u32 barrier, u32 parity) {
  while (!try_wait(barrier, parity)) {
  }
}

}  // namespace tmajit::ptx::mbarrier
