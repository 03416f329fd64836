// Conversions between f32 and the narrow floating-point types, and of floating point to integers.  PTX ISA, "cvt".
//@ # Functions convert two elements at a time where the hardware does. The low half has the element with the lower index.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

struct Pair {
  float low, high;
};

// f16 to f32.
__device__ __forceinline__ float f32_from_f16(u16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

// f32 to f16.  PTX 7.0, sm_80.
__device__ __forceinline__ u32 f16x2_from_f32(Pair value) {
  u32 bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(value.high), "f"(value.low));
  return bits;
}

// f16 to f32.
__device__ __forceinline__ Pair f32_from_f16x2(u32 bits) {
  return {f32_from_f16(static_cast<u16>(bits)), f32_from_f16(static_cast<u16>(bits >> 16))};
}

// f32 to bf16.  PTX 7.0, sm_80.
__device__ __forceinline__ u32 bf16x2_from_f32(Pair value) {
  u32 bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(value.high), "f"(value.low));
  return bits;
}

// bf16, the upper half of an f32, to f32.
__device__ __forceinline__ Pair f32_from_bf16x2(u32 bits) {
  return {__uint_as_float(bits << 16), __uint_as_float(bits & 0xffff0000u)};
}

//@ each type of e4m3 e5m2
// f32 to $type; finite values beyond the range give the largest finite one.  PTX 7.8, sm_89.
__device__ __forceinline__ u32 $typex2_from_f32(Pair value) {
  u16 bits;
  asm("cvt.rn.satfinite.$typex2.f32 %0, %1, %2;" : "=h"(bits) : "f"(value.high), "f"(value.low));
  return bits;
}

// $type to f32.  PTX 7.8, sm_89.
__device__ __forceinline__ Pair f32_from_$typex2(u32 bits) {
  u32 halves;
  asm("cvt.rn.f16x2.$typex2 %0, %1;" : "=r"(halves) : "h"(static_cast<u16>(bits)));
  return f32_from_f16x2(halves);
}

//@ end
// f32 to tf32, an f32 with 10 mantissa bits. Rounds to nearest, ties to even, as the copy engine does.  PTX 7.8, sm_90.
__device__ __forceinline__ float tf32_from_f32(float value) {
  u32 bits;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return __uint_as_float(bits);
}

//@ used truncate
// Converts to an integer, toward zero, and saturates to the smallest or largest value. NaN gives 0 for f32 to at most 32 bits;
// the result of other conversions of NaN is unspecified.
template <class To> constexpr bool is_signed = To(-1) < To(0);

template <class To>
__device__ __forceinline__ To truncate(float value) {
  if constexpr (sizeof(To) == 8) {
    return is_signed<To> ? static_cast<To>(__float2ll_rz(value)) : static_cast<To>(__float2ull_rz(value));
//@ if narrow
  } else if constexpr (sizeof(To) < 4) {
    u32 bits;
    if constexpr (sizeof(To) == 2 && is_signed<To>) asm("cvt.rzi.s16.f32 %0, %1;" : "=r"(bits) : "f"(value));
    else if constexpr (sizeof(To) == 2) asm("cvt.rzi.u16.f32 %0, %1;" : "=r"(bits) : "f"(value));
    else if constexpr (is_signed<To>) asm("cvt.rzi.s8.f32 %0, %1;" : "=r"(bits) : "f"(value));
    else asm("cvt.rzi.u8.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return static_cast<To>(bits);
//@ end
  } else {
    return is_signed<To> ? static_cast<To>(__float2int_rz(value)) : static_cast<To>(__float2uint_rz(value));
  }
}
template <class To>
__device__ __forceinline__ To truncate(double value) {
  if constexpr (sizeof(To) == 8) {
    return is_signed<To> ? static_cast<To>(__double2ll_rz(value)) : static_cast<To>(__double2ull_rz(value));
  } else if constexpr (is_signed<To>) {
    constexpr i32 largest = static_cast<i32>((1U << (8 * sizeof(To) - 1)) - 1);
    return static_cast<To>(max(min(__double2int_rz(value), largest), -largest - 1));
  } else {
    return static_cast<To>(min(__double2uint_rz(value), u32{static_cast<To>(-1)}));
  }
}
//@ end

}  // namespace tmajit::ptx
