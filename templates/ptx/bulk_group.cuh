// Bulk groups.  PTX ISA, "cp.async.bulk.commit_group" and "….wait_group".  PTX 8.0, sm_90.
//@ #
//@ # A thread waits for groups until its stores have read their source, or are complete. Groups belong to the thread that
//@ # issued the stores; only that thread can commit and wait.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Closes a group over every bulk store this thread has issued since the last one.
__device__ __forceinline__ void commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Returns when all but the `pending` newest groups are complete: their writes are visible.
template <u32 pending> __device__ __forceinline__ void wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}

// Returns when all but the `pending` newest groups have read their source, which may then be overwritten.
template <u32 pending> __device__ __forceinline__ void wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}

}  // namespace tmajit::ptx
