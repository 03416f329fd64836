// Barriers in shared memory that count arrivals and bytes.  PTX ISA, "mbarrier".
//@ # A phase completes when its pending arrivals and its transaction count are zero.
//@ # Threads wait by the parity of the phase: a new barrier is in phase 0, so wait(barrier, 0) waits for the first
//@ # completion, and wait(barrier, 1) returns at once.
//@ # Or they wait by the token of an arrival, which stands for the phase that the arrival belongs to.
//@ # Every function takes the 8-byte-aligned shared address of the barrier; *_remote a .shared::cluster address
//@ # (cluster.cuh), and *_of_cluster order the accesses of other CTAs of the cluster.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx::mbarrier {

// mbarrier.init: `arrivals` (1 … 2^20 − 1) a phase.  PTX 7.0, sm_80.
//@ # Follow it with fence_mbarrier_init() and a CTA barrier before other threads or the copy engine use the
//@ # barrier.
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

// mbarrier.arrive: `count` arrivals, release at CTA scope.  PTX 7.8, sm_90.
__device__ __forceinline__ void arrive_count(u32 barrier, u32 count) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

// The phase that an arrival was part of.
struct Token { u64 state; };

// mbarrier.arrive: one arrival, release at CTA scope; returns the token to wait for.  PTX 7.0, sm_80.
[[nodiscard]] __device__ __forceinline__ Token arrive_for_token(u32 barrier) {
  Token token;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token.state) : "r"(barrier) : "memory");
  return token;
}

// mbarrier.arrive.expect_tx: one arrival, and `bytes` to wait for; returns the token to wait for.  PTX 8.0, sm_90.
[[nodiscard]] __device__ __forceinline__ Token arrive_expect_tx_for_token(u32 barrier, u32 bytes) {
  Token token;
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
               : "=l"(token.state) : "r"(barrier), "r"(bytes) : "memory");
  return token;
}

// mbarrier.arrive_drop: one arrival; every later phase needs one arrival less.  PTX 7.0, sm_80.
__device__ __forceinline__ void arrive_and_drop(u32 barrier) {
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// mbarrier.arrive: one arrival in a CTA of the cluster, release at cluster scope.  PTX 8.0, sm_90.
__device__ __forceinline__ void arrive_remote(u32 barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// mbarrier.arrive: one arrival in a CTA of the cluster by a thread that has only read the memory that others write next,
// release at CTA scope.  PTX 8.0, sm_90.
//@ # A release at cluster scope is a fence of all the thread's accesses to memory before the arrival, and takes some
//@ # hundred cycles. Only writes need it: values that the thread has read are in its registers.
__device__ __forceinline__ void arrive_remote_of_reader(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// mbarrier.arrive.expect_tx: one arrival in a CTA of the cluster, whose phase now waits for `bytes` as well; release at cluster
// scope.  PTX 8.0, sm_90.
__device__ __forceinline__ void arrive_expect_tx_remote(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;"
               ::"r"(barrier), "r"(bytes) : "memory");
}

// mbarrier.expect_tx: the phase in a CTA of the cluster now waits for `bytes` more; not an arrival.  PTX 8.0, sm_90.
__device__ __forceinline__ void expect_tx_remote(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// mbarrier.expect_tx: the phase now waits for `bytes` more; not an arrival.  PTX 8.0, sm_90.
__device__ __forceinline__ void expect_tx(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// mbarrier.arrive.expect_tx: one arrival, and the phase now waits for `bytes` more, those of the copies.  PTX 8.0, sm_90.
__device__ __forceinline__ void arrive_expect_tx(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// mbarrier.test_wait.parity: whether the phase of this parity has completed; never sleeps.  PTX 7.1, sm_80.
__device__ __forceinline__ bool test_wait(u32 barrier, u32 parity) {
  u32 done;
  asm volatile(
      "{\n\t.reg .pred done;\n\t"
      "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, done;\n\t}"
      : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  return done;
}

// mbarrier.test_wait: whether the phase of the token has completed; never sleeps.  PTX 7.0, sm_80.
__device__ __forceinline__ bool test_wait_for(u32 barrier, Token token) {
  u32 done;
  asm volatile(
      "{\n\t.reg .pred done;\n\t"
      "mbarrier.test_wait.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, done;\n\t}"
      : "=r"(done) : "r"(barrier), "l"(token.state) : "memory");
  return done;
}

// mbarrier.try_wait.parity: whether the phase of this parity has completed; may sleep a while.  PTX 7.8, sm_90.
//@ # Acquire at CTA scope: the copy engine's writes are visible when it returns true.
__device__ __forceinline__ bool try_wait(u32 barrier, u32 parity) {
  u32 done;
  asm volatile(
      "{\n\t.reg .pred done;\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, done;\n\t}"
      : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  return done;
}

// mbarrier.try_wait: whether the phase of the token has completed; may sleep a while.  PTX 7.8, sm_90.
__device__ __forceinline__ bool try_wait_for(u32 barrier, Token token) {
  u32 done;
  asm volatile(
      "{\n\t.reg .pred done;\n\t"
      "mbarrier.try_wait.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, done;\n\t}"
      : "=r"(done) : "r"(barrier), "l"(token.state) : "memory");
  return done;
}

// mbarrier.try_wait.parity.acquire.cluster: the same as try_wait; accesses of other CTAs' threads before they arrived
// are visible. PTX 8.0, sm_90.
__device__ __forceinline__ bool try_wait_of_cluster(u32 barrier, u32 parity) {
  u32 done;
  asm volatile(
      "{\n\t.reg .pred done;\n\t"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%1], %2;\n\t"
      "selp.u32 %0, 1, 0, done;\n\t}"
      : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  return done;
}

// Returns when the phase of this parity has completed; a new barrier is in phase 0.
__device__ __forceinline__ void wait(u32 barrier, u32 parity) {
  while (!try_wait(barrier, parity)) {}
}

// Returns when the phase of the token has completed.
__device__ __forceinline__ void wait_for(u32 barrier, Token token) {
  while (!try_wait_for(barrier, token)) {}
}

// Returns when the phase of this parity has completed; accesses of other CTAs' threads before they arrived are visible.
__device__ __forceinline__ void wait_of_cluster(u32 barrier, u32 parity) {
  while (!try_wait_of_cluster(barrier, parity)) {}
}

}  // namespace tmajit::ptx::mbarrier
