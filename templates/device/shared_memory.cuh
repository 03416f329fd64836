// The CTA's dynamic shared memory, aligned to the period of the widest swizzle.
#pragma once
#include "tmajit/shared.cuh"

namespace tmajit {

// Swizzles act on absolute shared addresses, and repeat every 1024 bytes: a base that is off that period
// would shift the pattern.
constexpr u32 shared_alignment = 1024;

__device__ __forceinline__ u8* aligned_shared_memory() {
  extern __shared__ __align__(16) u8 dynamic_shared_memory[];
  const u32 address = ptx::shared_address(dynamic_shared_memory);
  return dynamic_shared_memory + (0u - address) % shared_alignment;
}

}  // namespace tmajit
