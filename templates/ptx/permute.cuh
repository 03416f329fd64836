// Bytes and words of registers in another order.  PTX ISA, "prmt" and "selp".  PTX 2.0, sm_20.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// Transposes four rows of four bytes: byte i of out[j] is byte j of row i. It interleaves pairs of rows, then pairs of pairs.
__device__ __forceinline__ void transpose_bytes(u32 (&out)[4], const u32 (&row)[4]) {
  asm("{\n\t.reg .b32 ab_low, ab_high, cd_low, cd_high;\n\t"
      "prmt.b32 ab_low, %4, %5, 0x5140;\n\tprmt.b32 ab_high, %4, %5, 0x7362;\n\t"
      "prmt.b32 cd_low, %6, %7, 0x5140;\n\tprmt.b32 cd_high, %6, %7, 0x7362;\n\t"
      "prmt.b32 %0, ab_low, cd_low, 0x5410;\n\tprmt.b32 %1, ab_low, cd_low, 0x7632;\n\t"
      "prmt.b32 %2, ab_high, cd_high, 0x5410;\n\tprmt.b32 %3, ab_high, cd_high, 0x7632;\n\t}"
      : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
      : "r"(row[0]), "r"(row[1]), "r"(row[2]), "r"(row[3]));
}

// Selects the five words that hold 16 bytes of two adjacent vectors of 16 bytes, from byte `first` on, which is below 16.
__device__ __forceinline__ void words_of16(u32 (&word)[5], const u32 (&low)[4], const u32 (&high)[4], u32 first) {
  asm("{\n\t.reg .pred p, q;\n\t.reg .b32 bit, a, b, c, d, e, f;\n\t"
      "and.b32 bit, %13, 8;\n\tsetp.ne.b32 p, bit, 0;\n\tand.b32 bit, %13, 4;\n\tsetp.ne.b32 q, bit, 0;\n\t"
      "selp.b32 a, %7, %5, p;\n\tselp.b32 b, %8, %6, p;\n\tselp.b32 c, %9, %7, p;\n\t"
      "selp.b32 d, %10, %8, p;\n\tselp.b32 e, %11, %9, p;\n\tselp.b32 f, %12, %10, p;\n\t"
      "selp.b32 %0, b, a, q;\n\tselp.b32 %1, c, b, q;\n\tselp.b32 %2, d, c, q;\n\t"
      "selp.b32 %3, e, d, q;\n\tselp.b32 %4, f, e, q;\n\t}"
      : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]), "=r"(word[4])
      : "r"(low[0]), "r"(low[1]), "r"(low[2]), "r"(low[3]), "r"(high[0]), "r"(high[1]), "r"(high[2]), "r"(high[3]),
        "r"(first));
}

// Selects the three words that hold 8 bytes of two adjacent vectors of 8 bytes, from byte `first` on, which is below 8.
__device__ __forceinline__ void words_of8(u32 (&word)[3], const u32 (&low)[2], const u32 (&high)[2], u32 first) {
  asm("{\n\t.reg .pred p;\n\t.reg .b32 bit;\n\tand.b32 bit, %7, 4;\n\tsetp.ne.b32 p, bit, 0;\n\t"
      "selp.b32 %0, %4, %3, p;\n\tselp.b32 %1, %5, %4, p;\n\tselp.b32 %2, %6, %5, p;\n\t}"
      : "=&r"(word[0]), "=&r"(word[1]), "=&r"(word[2])
      : "r"(low[0]), "r"(low[1]), "r"(high[0]), "r"(high[1]), "r"(first));
}

}  // namespace tmajit::ptx
