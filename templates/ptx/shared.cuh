// Addresses in the .shared state space, which is what mbarriers and bulk copies take.
// PTX ISA, "State Spaces" and "cvta".  PTX 2.0, sm_20.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// The 32-bit shared-window address of `pointer`, which must point to shared memory of this CTA. It is also
// this CTA's .shared::cluster address.
__device__ __forceinline__ u32 shared_address(const void* pointer) {
  return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

}  // namespace tmajit::ptx
