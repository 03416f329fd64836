// One thread out of a warp.  PTX ISA, "elect.sync".  PTX 8.0, sm_90.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// True in exactly one thread of the warp, always the same one. All 32 threads must call it together.
__device__ __forceinline__ bool elect() {
  u32 elected;
  asm volatile(
      "{\n\t.reg .pred elected;\n\telect.sync _|elected, 0xffffffff;\n\tselp.u32 %0, 1, 0, elected;\n\t}"
      : "=r"(elected));
  return elected;
}

}  // namespace tmajit::ptx
