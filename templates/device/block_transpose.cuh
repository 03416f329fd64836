// A square block of elements transposed in registers: as many vectors as a vector has elements.
//@ # Elements of 4 bytes or more cost no instruction: only the names of their registers change. A smaller element costs
//@ # half a byte permutation.
#pragma once
#include "tmajit/permute.cuh"
#include "tmajit/vector16.cuh"

namespace tmajit {

template <u32 element_bytes, u32 bytes>
struct Block {
  static constexpr u32 side = bytes / element_bytes;
  static constexpr u32 words = bytes / 4;

  Vector<bytes> row[side];
};

//@ if words
template <u32 element_bytes, u32 bytes>
__device__ __forceinline__ Block<element_bytes, bytes> transpose(const Block<element_bytes, bytes>& in) {
  constexpr u32 element_words = element_bytes / 4;
  Block<element_bytes, bytes> out;
#pragma unroll
  for (u32 i = 0; i < in.side; ++i) {
#pragma unroll
    for (u32 j = 0; j < in.side * element_words; ++j) {
      out.row[j / element_words].word[i * element_words + j % element_words] = in.row[i].word[j];
    }
  }
  return out;
}

//@ end
//@ if bytes2
// Word k of a row of `in` holds columns 2k and 2k + 1. Word m of a row of `out` holds rows 2m and 2m + 1 of `in`.
template <u32 bytes>
__device__ __forceinline__ Block<2, bytes> transpose(const Block<2, bytes>& in) {
  Block<2, bytes> out;
#pragma unroll
  for (u32 k = 0; k < in.words; ++k) {
#pragma unroll
    for (u32 m = 0; m < in.words; ++m) {
      const u32 upper = in.row[2 * m].word[k];
      const u32 lower = in.row[2 * m + 1].word[k];
      out.row[2 * k].word[m] = __byte_perm(upper, lower, 0x5410);
      out.row[2 * k + 1].word[m] = __byte_perm(upper, lower, 0x7632);
    }
  }
  return out;
}

//@ end
//@ if bytes1
// The same word of four rows is a block of 4 × 4 bytes.
template <u32 bytes>
__device__ __forceinline__ Block<1, bytes> transpose(const Block<1, bytes>& in) {
  Block<1, bytes> out;
#pragma unroll
  for (u32 k = 0; k < in.words; ++k) {
#pragma unroll
    for (u32 m = 0; m < in.words; ++m) {
      u32 column[4];
      ptx::transpose_bytes(column, {in.row[4 * m].word[k], in.row[4 * m + 1].word[k], in.row[4 * m + 2].word[k],
                                    in.row[4 * m + 3].word[k]});
#pragma unroll
      for (u32 j = 0; j < 4; ++j) out.row[4 * k + j].word[m] = column[j];
    }
  }
  return out;
}

//@ end
}  // namespace tmajit
