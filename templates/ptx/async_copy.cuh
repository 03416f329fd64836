// Copies of 16 bytes that a thread does not wait for.  PTX ISA, "cp.async".  PTX 7.0, sm_80.
#pragma once
#include "tmajit/cache_hint.cuh"
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Copies the first `bytes` of the 16 at `from`, and zeros for the rest; both addresses are multiples of 16.
//@ each hint from 0 to cache_hints
__device__ __forceinline__ void copy16_async(u32 to, const void* from, u32 bytes$[x < hint: , CachePolicy policy]) {
  asm volatile("cp.async.cg.shared.global$[x < hint: .L2::cache_hint] [%0], [%1], 16, %2$[x < hint: , %3];" ::"r"(to), "l"(from), "r"(bytes)$[x < hint: , "l"(policy.bits)] : "memory");
}
//@ end

// Makes one group of all copies that this thread started since the last group.
__device__ __forceinline__ void close_async_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits for all of this thread's groups but the last `pending`.
template <u32 pending>
__device__ __forceinline__ void wait_async_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Waits for all copies that this thread started.
__device__ __forceinline__ void wait_async_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace tmajit::ptx
