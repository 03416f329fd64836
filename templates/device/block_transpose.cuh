// A square block of elements transposed in registers: `n` vectors of `n` elements, n = 16 / bytes of an
// element.
//
// Elements of 4 bytes and more only change their registers' names; smaller ones take half a byte permute
// each.
#pragma once
#include "tmajit/vector16.cuh"

namespace tmajit {

template <u32 n>
struct Block {
  Vector16 row[n];
};

__device__ __forceinline__ Block<1> transpose(const Block<1>& in) {
  return in;
}

__device__ __forceinline__ Block<2> transpose(const Block<2>& in) {
  return {{{{in.row[0].word[0], in.row[0].word[1], in.row[1].word[0], in.row[1].word[1]}},
           {{in.row[0].word[2], in.row[0].word[3], in.row[1].word[2], in.row[1].word[3]}}}};
}

__device__ __forceinline__ Block<4> transpose(const Block<4>& in) {
  Block<4> out;
#pragma unroll
  for (u32 i = 0; i < 4; ++i) {
#pragma unroll
    for (u32 j = 0; j < 4; ++j) out.row[j].word[i] = in.row[i].word[j];
  }
  return out;
}

// Word k of a row holds columns 2k and 2k + 1; word m of a result rows 2m and 2m + 1.
__device__ __forceinline__ Block<8> transpose(const Block<8>& in) {
  Block<8> out;
#pragma unroll
  for (u32 k = 0; k < 4; ++k) {
#pragma unroll
    for (u32 m = 0; m < 4; ++m) {
      const u32 upper = in.row[2 * m].word[k];
      const u32 lower = in.row[2 * m + 1].word[k];
      out.row[2 * k].word[m] = __byte_perm(upper, lower, 0x5410);
      out.row[2 * k + 1].word[m] = __byte_perm(upper, lower, 0x7632);
    }
  }
  return out;
}

// Four rows of a word are a 4 x 4 block of bytes: pairs of rows are interleaved, then pairs of pairs.
__device__ __forceinline__ Block<16> transpose(const Block<16>& in) {
  Block<16> out;
#pragma unroll
  for (u32 k = 0; k < 4; ++k) {
#pragma unroll
    for (u32 m = 0; m < 4; ++m) {
      const u32 a = in.row[4 * m].word[k];
      const u32 b = in.row[4 * m + 1].word[k];
      const u32 c = in.row[4 * m + 2].word[k];
      const u32 d = in.row[4 * m + 3].word[k];
      const u32 ab_low = __byte_perm(a, b, 0x5140);
      const u32 ab_high = __byte_perm(a, b, 0x7362);
      const u32 cd_low = __byte_perm(c, d, 0x5140);
      const u32 cd_high = __byte_perm(c, d, 0x7362);
      out.row[4 * k].word[m] = __byte_perm(ab_low, cd_low, 0x5410);
      out.row[4 * k + 1].word[m] = __byte_perm(ab_low, cd_low, 0x7632);
      out.row[4 * k + 2].word[m] = __byte_perm(ab_high, cd_high, 0x5410);
      out.row[4 * k + 3].word[m] = __byte_perm(ab_high, cd_high, 0x7632);
    }
  }
  return out;
}

}  // namespace tmajit
