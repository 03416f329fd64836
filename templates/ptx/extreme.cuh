// The minimum and the maximum of two f16 or bf16, as bits, or of two f32.  PTX ISA, "min" and "max".  PTX 7.0, sm_80.
//@ # -0 is less than 0. If one operand is NaN, the result is the other, but NaN for the forms with NaN in their name.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ each form of min.f16 min.bf16 max.f16 max.bf16
__device__ __forceinline__ u16 $_form(u16 a, u16 b) {
  u16 result;
  asm("$form %0, %1, %2;" : "=h"(result) : "h"(a), "h"(b));
  return result;
}

//@ end
//@ each form of min.NaN.f32 max.NaN.f32
__device__ __forceinline__ float $_form(float a, float b) {
  float result;
  asm("$form %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

//@ end
}  // namespace tmajit::ptx
