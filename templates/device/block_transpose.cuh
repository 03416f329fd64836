// A square block of elements transposed in registers: as many vectors as a vector has elements.
//@ # Elements of 4 bytes and more only change their registers' names; smaller ones take half a byte permute each.
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
  constexpr u32 each = element_bytes / 4;  // words per element
  Block<element_bytes, bytes> out;
#pragma unroll
  for (u32 i = 0; i < in.side; ++i) {
#pragma unroll
    for (u32 j = 0; j < in.side * each; ++j) {
      out.row[j / each].word[i * each + j % each] = in.row[i].word[j];
    }
  }
  return out;
}

//@ end
//@ if bytes2
// Word k of a row holds columns 2k and 2k + 1; word m of a result rows 2m and 2m + 1.
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
// Four rows of a word are a 4 x 4 block of bytes.
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
