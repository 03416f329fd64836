// The common parts of all wgmma: descriptors of matrices in shared memory, fence and groups.  PTX 8.0, sm_90a.
//@ # PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate". The multiplications are in wgmma_bf16.cuh,
//@ # wgmma_f16.cuh, wgmma_tf32.cuh, wgmma_fp8.cuh, wgmma_int8.cuh and wgmma_b1.cuh; descriptors are made by
//@ # matrix_tile.cuh in templates/device.
//@ #
//@ # D = A·B + D, or A·B if not `accumulate`: D is 64 × N in the registers of a warpgroup (four warps, the first a
//@ # multiple of four), A is 64 × K in shared memory or registers, B is K × N in shared memory. The number of accumulators
//@ # gives N: a thread has N / 2 of 32 bits, or N / 4 words of two f16. Word i of the thread in warp w of the warpgroup and
//@ # lane l is the element with
//@ #   row = 16·w + l / 4 + 8·(i / 2 % 2), column = 8·(i / 4) + 2·(l % 4) + i % 2
//@ # (for f16, word i holds elements 2·i and 2·i + 1 of that order).
//@ #
//@ # All four warps call together: wgmma_fence, then multiplications, then wgmma_commit_group; accumulators and A's
//@ # registers are not touched, and shared memory is not written, until wgmma_wait_group says that the group is
//@ # complete. Ordinary stores to shared memory need fence_proxy_async_shared before the multiplications read them.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

// The address and layout of a matrix in shared memory, as wgmma takes them.
struct MatrixDescriptor { u64 bits; };
// Along which dimension a matrix in shared memory is contiguous: K, or the other one (M of A, N of B).
enum class Major : u32 { k, mn };
// Whether wgmma multiplies the elements of an operand by one or by minus one.
enum class Sign : int { negated = -1, kept = 1 };

}  // namespace tmajit

namespace tmajit::ptx {

// Orders this warp's accesses to registers before the multiplications that follow; only the first of consecutive
// multiplications needs it.
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// Closes a group over every multiplication since the last one.
__device__ __forceinline__ void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Returns when all but the `pending` newest groups are complete.
template <u32 pending> __device__ __forceinline__ void wgmma_wait_group() {
  static_assert(pending < 8, "wgmma.wait_group takes 0 to 7 groups");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Keeps the compiler from moving accesses to a register across this point: call it between a multiplication and the wait for it.
__device__ __forceinline__ void keep_in_order(float& word) { asm volatile("" : "+f"(word)::"memory"); }
__device__ __forceinline__ void keep_in_order(u32& word) { asm volatile("" : "+r"(word)::"memory"); }
__device__ __forceinline__ void keep_in_order(i32& word) { asm volatile("" : "+r"(word)::"memory"); }

}  // namespace tmajit::ptx
