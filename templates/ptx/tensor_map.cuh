// The tensor map itself, which bulk tensor copies take.  PTX ISA, "prefetch".  PTX 8.0, sm_90.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Brings a tensor map in param, const or global memory into the descriptor cache.
__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

}  // namespace tmajit::ptx
