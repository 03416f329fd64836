// Division by a number that is known at the launch: a multiplication and a shift.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

// For dividends below 2^31. The host sets `multiplier` to the upper end of 2^(31 + bits) / divisor, with bits
// the smallest for which 2^bits is at least the divisor, and `shift` to bits - 1.
struct Divider {
  u32 divisor;
  u32 multiplier;
  u32 shift;

  __device__ __forceinline__ u32 quotient(u32 n) const {
    return divisor == 1 ? n : __umulhi(n, multiplier) >> shift;
  }
};

}  // namespace tmajit
