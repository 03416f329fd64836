// Division by a number that is known at the launch: a multiplication and a shift.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit {

// n / divisor for n below 2^31.
__device__ __forceinline__ u32 quotient(const params::Divider& divider, u32 n) {
  return divider.divisor == 1 ? n : __umulhi(n, divider.multiplier) >> divider.shift;
}

// Returns n modulo the divisor; n becomes the quotient.
__device__ __forceinline__ u32 take(const params::Divider& divider, u32& n) {
  const u32 whole = n;
  n = quotient(divider, whole);
  return whole - n * divider.divisor;
}

}  // namespace tmajit
