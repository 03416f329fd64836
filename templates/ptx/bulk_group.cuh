// Bulk groups: how a thread learns that the stores it issued have read their source or are complete.
// PTX ISA, "cp.async.bulk.commit_group" and "cp.async.bulk.wait_group".  PTX 8.0, sm_90.
// Groups belong to the thread that issued the stores; only that thread can commit and wait.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Closes a group over every bulk store this thread has issued since the last one.
__device__ __forceinline__ void commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Returns when at most `pending` of the newest groups have not completed: all older writes are visible.
template <u32 pending>
__device__ __forceinline__ void wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}

// Returns when at most `pending` of the newest groups have not read their source: the shared memory of all
// older ones may be overwritten.
template <u32 pending>
__device__ __forceinline__ void wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

}  // namespace tmajit::ptx
