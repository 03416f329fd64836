// Exchanges values and states of several 4-byte words between the lanes of a warp. All lanes take part.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

// Applies `shuffle` to each word of `state`.
template <class State, class Shuffle>
__device__ __forceinline__ State shuffled_words(const State& state, const Shuffle& shuffle) {
  struct Words {
    u32 at[sizeof(State) / 4];
  };
  Words words = __builtin_bit_cast(Words, state);
#pragma unroll
  for (u32& word : words.at) word = shuffle(word);
  return __builtin_bit_cast(State, words);
}

template <class State>
__device__ __forceinline__ State state_of_lane(const State& state, u32 lane) {
  return shuffled_words(state, [lane](u32 word) { return __shfl_sync(~0u, word, lane); });
}

// The state of the lane whose number differs in `bit`.
template <class State>
__device__ __forceinline__ State state_across(const State& state, u32 bit) {
  return shuffled_words(state, [bit](u32 word) { return __shfl_xor_sync(~0u, word, bit); });
}

// The sum of the values of all lanes up to this one.
__device__ __forceinline__ u32 sum_up_to_lane(u32 value, u32 lane) {
#pragma unroll
  for (u32 distance = 1; distance < 32; distance *= 2) {
    const u32 earlier = __shfl_up_sync(~0u, value, distance);
    if (lane >= distance) value += earlier;
  }
  return value;
}

}  // namespace tmajit
