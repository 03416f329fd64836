// A number that a kernel divides by and that is known at the launch. quotient() of division.cuh divides.
#pragma once
#include "tmajit/scalars.cuh"

namespace tmajit::params {

// For dividends below 2^31. `multiplier` is the upper end of 2^(31 + bits) / divisor, with bits the smallest for
// which 2^bits is at least the divisor, and `shift` is bits - 1. For a divisor of 1 neither is used.
struct Divider {
  u32 divisor;
  u32 multiplier;
  u32 shift;
};
//@ if host
static_assert(sizeof(Divider) == 12 && alignof(Divider) == 4);
static_assert(TMAJIT_OFFSET(Divider, multiplier) == 4 && TMAJIT_OFFSET(Divider, shift) == 8);
//@ end

}  // namespace tmajit::params
