// The CTA's dynamic shared memory, aligned to the widest swizzle's period.
#pragma once
#include "tmajit/shared.cuh"

namespace tmajit {

constexpr u32 shared_alignment = 1024;  // period, in shared addresses, of every swizzle
__device__ __forceinline__ u8* aligned_shared_memory() {
  extern __shared__ __align__(16) u8 dynamic_shared_memory[];
  const u32 address = ptx::shared_address(dynamic_shared_memory);
  return dynamic_shared_memory + (0u - address) % shared_alignment;
}

}  // namespace tmajit
