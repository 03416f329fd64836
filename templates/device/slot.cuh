// A state in global memory that other CTAs read as soon as it is published.
//@ # Each 64-bit word has 32 bits of the state and a tag: one load tells whether the word was published, without a fence.
#pragma once
#include "tmajit/global.cuh"
#include "tmajit/types.cuh"

namespace tmajit {

template <class State>
struct Slot {
  static constexpr u32 words = sizeof(State) / 4;  // of 8 bytes
  u64 word[words];

  __device__ __forceinline__ void load(const u8* from) {
#pragma unroll
    for (u32 k = 0; k < words; ++k) word[k] = ptx::load_relaxed(from + 8 * k);
  }
  __device__ __forceinline__ bool has_tag(u32 tag) const {
    bool same = true;
#pragma unroll
    for (u32 k = 0; k < words; ++k) same = same && static_cast<u32>(word[k] >> 32) == tag;
    return same;
  }
  __device__ __forceinline__ State state() const {
    struct Halves {
      u32 at[words];
    } halves;
#pragma unroll
    for (u32 k = 0; k < words; ++k) halves.at[k] = static_cast<u32>(word[k]);
    return __builtin_bit_cast(State, halves);
  }
  static __device__ __forceinline__ void publish(u8* to, u32 tag, const State& state) {
    struct Halves {
      u32 at[words];
    };
    const Halves halves = __builtin_bit_cast(Halves, state);
#pragma unroll
    for (u32 k = 0; k < words; ++k) ptx::store_relaxed(to + 8 * k, static_cast<u64>(tag) << 32 | halves.at[k]);
  }
};

}  // namespace tmajit
