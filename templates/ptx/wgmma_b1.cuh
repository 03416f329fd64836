// Products of 64 × 256 by 256 × N matrices of bits, in s32: how many are set in both.  PTX ISA, "wgmma.mma_async".  PTX 8.0, sm_90a.
//@ # A and B in shared memory are contiguous along K.
//@ # A's words hold 32 bits each: word i of lane l in warp w begins at row 16·w + l / 4 + 8·(i % 2), column
//@ # 32·(l % 4) + 128·(i / 2). N is 8, 16, 24 or a multiple of 16 from 32 on.
//@ # The template has one definition, which the generator writes once for every N, with lists of a thread's accumulators
//@ # (`each` in templates/README.md). Their number selects the overload. wgmma.cuh states the common requirements.
#pragma once
#include "tmajit/wgmma.cuh"

namespace tmajit::ptx {

//@ each n of 8 16 24 32 48 64 80 96 112 128 144 160 176 192 208 224 240 256
// 64 × $n in s32, A from shared memory.
__device__ __forceinline__ void wgmma_b1(i32 (&d)[$(n / 2)], MatrixDescriptor a, MatrixDescriptor b, bool accumulate) {
  asm volatile("{\n\t.reg .pred accumulate;\n\tsetp.ne.b32 accumulate, %$(n / 2 + 2), 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n$nk256.s32.b1.b1.and.popc {$[i < n / 2: %$i]}, %$(n / 2), %$(n / 2 + 1), accumulate;\n\t}"
               : $[i < n / 2: "+r"(d[$i])]
               : "l"(a.bits), "l"(b.bits), "r"(static_cast<u32>(accumulate)));
}
// A from registers.
__device__ __forceinline__ void wgmma_b1(i32 (&d)[$(n / 2)], const u32 (&a)[4], MatrixDescriptor b, bool accumulate) {
  asm volatile("{\n\t.reg .pred accumulate;\n\tsetp.ne.b32 accumulate, %$(n / 2 + 5), 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n$nk256.s32.b1.b1.and.popc {$[i < n / 2: %$i]}, {$[i < 4: %$(n / 2 + i)]}, %$(n / 2 + 4), accumulate;\n\t}"
               : $[i < n / 2: "+r"(d[$i])]
               : $[i < 4: "r"(a[$i])], "l"(b.bits), "r"(static_cast<u32>(accumulate)));
}
//@ end

}  // namespace tmajit::ptx
