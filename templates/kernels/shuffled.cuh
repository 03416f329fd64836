// Values of more than 4 bytes from other lanes of the warp.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

// The state of another lane. All lanes of the warp take part.
template <class T>
__device__ __forceinline__ T shuffled(const T& state, u32 lane) {
  struct Words {
    u32 at[sizeof(T) / 4];
  };
  Words words = __builtin_bit_cast(Words, state);
#pragma unroll
  for (u32& word : words.at) word = __shfl_sync(~0u, word, lane);
  return __builtin_bit_cast(T, words);
}

}  // namespace tmajit
