// The exponential function of the hardware.  PTX ISA, "ex2".  PTX 1.4, sm_20.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Returns 2^x, with a relative error of about 2^-22. Results below 2^-126 are 0.
__device__ __forceinline__ float exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace tmajit::ptx
