// Numbers of the launch, which an expression reads as p0, p1 ….
#pragma once
#include "tmajit/scalars.cuh"

namespace tmajit::params {

// The bits of each number stand in place of an address.
template <u32 count>
struct Numbers {
  Address<const u8> bits[count];
};
//@ if host
static_assert(sizeof(Numbers<3>) == 24 && alignof(Numbers<3>) == 8);
//@ end

}  // namespace tmajit::params
