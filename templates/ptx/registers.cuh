// The number of registers of a warpgroup's warps.  PTX ISA, "setmaxnreg".  PTX 8.0, sm_90a.
//@ # All warps of a warpgroup call the same function. The kernel must be compiled for a fixed number of registers, which
//@ # __launch_bounds__ gives it. Warpgroups share the registers of their CTA: one that raises its number beyond those that
//@ # others gave back waits for ever.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// setmaxnreg.inc: from now on `count` registers a thread; waits until the CTA has them.
template <u32 count> __device__ __forceinline__ void raise_registers() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0, "setmaxnreg takes a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

// setmaxnreg.dec: gives back all but `count` registers a thread.
template <u32 count> __device__ __forceinline__ void lower_registers() {
  static_assert(count >= 24 && count <= 256 && count % 8 == 0, "setmaxnreg takes a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

}  // namespace tmajit::ptx
