// Addresses in shared memory.  PTX ISA, "State Spaces" and "cvta".  PTX 2.0, sm_20.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Of a `pointer` to shared memory of this CTA; also its .shared::cluster address.
__device__ __forceinline__ u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

}  // namespace tmajit::ptx
