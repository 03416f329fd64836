// A ring of stages in shared memory, and a position in it.
#pragma once
#include "tmajit/mbarrier.cuh"

namespace tmajit {

// A position in a ring of `depth` stages. `parity` is that of the phase of the stage's barrier; it changes with each round.
template <u32 depth> struct RingPosition {
  u32 stage = 0;
  u32 parity = 0;
  __device__ __forceinline__ void next() {
    if (++stage == depth) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// One mbarrier for each stage, 8 bytes apart.
struct RingBarriers {
  u32 first;  // shared address
  __device__ __forceinline__ u32 operator[](u32 stage) const { return first + 8 * stage; }
  template <u32 depth> __device__ __forceinline__ void init(u32 arrivals) const {
    for (u32 stage = 0; stage < depth; ++stage) ptx::mbarrier::init((*this)[stage], arrivals);
  }
};

}  // namespace tmajit
