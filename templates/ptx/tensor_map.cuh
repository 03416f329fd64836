// The prefetch of a tensor map, which bulk tensor copies take.  PTX ISA, "prefetch".  PTX 8.0, sm_90.
//@ # A kernel may change a tiled map: copy it to shared memory, replace fields there (tensor_map_edit.cuh), publish it,
//@ # and acquire it before a copy that takes it.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Brings a tensor map in param, const or global memory into the descriptor cache.
__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

}  // namespace tmajit::ptx
