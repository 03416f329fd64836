// Products of 64 × 16 by 16 × N matrices of f16, in f32 or f16.  PTX ISA, "wgmma.mma_async".  PTX 8.0, sm_90a.
//@ # A and B in shared memory are contiguous along K, or along M or N if `major_a` or `major_b` is Major::mn. A's words
//@ # hold two elements each: word i of lane l in warp w begins at row 16·w + l / 4 + 8·(i % 2), column 2·(l % 4) +
//@ # 8·(i / 2). The template has one definition, which the generator writes once for every N, with lists of a thread's
//@ # accumulators (`each` in templates/README.md). Their number selects the overload. wgmma.cuh states the common
//@ # requirements.
#pragma once
#include "tmajit/wgmma.cuh"

namespace tmajit::ptx {

//@ each n from 8 to 256 by 8
// 64 × $n in f32, A from shared memory.
template <Sign sign_a = Sign::kept, Sign sign_b = Sign::kept, Major major_a = Major::k, Major major_b = Major::k>
__device__ __forceinline__ void wgmma_f16(float (&d)[$(n / 2)], MatrixDescriptor a, MatrixDescriptor b, bool accumulate) {
  asm volatile("{\n\t.reg .pred accumulate;\n\tsetp.ne.b32 accumulate, %$(n / 2 + 2), 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n$nk16.f32.f16.f16 {$[i < n / 2: %$i]}, %$(n / 2), %$(n / 2 + 1), accumulate, %$(n / 2 + 3), %$(n / 2 + 4), %$(n / 2 + 5), %$(n / 2 + 6);\n\t}"
               : $[i < n / 2: "+f"(d[$i])]
               : "l"(a.bits), "l"(b.bits), "r"(static_cast<u32>(accumulate)), "n"(static_cast<int>(sign_a)), "n"(static_cast<int>(sign_b)), "n"(static_cast<int>(major_a)), "n"(static_cast<int>(major_b)));
}
// A from registers.
template <Sign sign_a = Sign::kept, Sign sign_b = Sign::kept, Major major_b = Major::k>
__device__ __forceinline__ void wgmma_f16(float (&d)[$(n / 2)], const u32 (&a)[4], MatrixDescriptor b, bool accumulate) {
  asm volatile("{\n\t.reg .pred accumulate;\n\tsetp.ne.b32 accumulate, %$(n / 2 + 5), 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n$nk16.f32.f16.f16 {$[i < n / 2: %$i]}, {$[i < 4: %$(n / 2 + i)]}, %$(n / 2 + 4), accumulate, %$(n / 2 + 6), %$(n / 2 + 7), %$(n / 2 + 8);\n\t}"
               : $[i < n / 2: "+f"(d[$i])]
               : $[i < 4: "r"(a[$i])], "l"(b.bits), "r"(static_cast<u32>(accumulate)), "n"(static_cast<int>(sign_a)), "n"(static_cast<int>(sign_b)), "n"(static_cast<int>(major_b)));
}
// 64 × $n in f16, A from shared memory.
template <Sign sign_a = Sign::kept, Sign sign_b = Sign::kept, Major major_a = Major::k, Major major_b = Major::k>
__device__ __forceinline__ void wgmma_f16(u32 (&d)[$(n / 4)], MatrixDescriptor a, MatrixDescriptor b, bool accumulate) {
  asm volatile("{\n\t.reg .pred accumulate;\n\tsetp.ne.b32 accumulate, %$(n / 4 + 2), 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n$nk16.f16.f16.f16 {$[i < n / 4: %$i]}, %$(n / 4), %$(n / 4 + 1), accumulate, %$(n / 4 + 3), %$(n / 4 + 4), %$(n / 4 + 5), %$(n / 4 + 6);\n\t}"
               : $[i < n / 4: "+r"(d[$i])]
               : "l"(a.bits), "l"(b.bits), "r"(static_cast<u32>(accumulate)), "n"(static_cast<int>(sign_a)), "n"(static_cast<int>(sign_b)), "n"(static_cast<int>(major_a)), "n"(static_cast<int>(major_b)));
}
// A from registers.
template <Sign sign_a = Sign::kept, Sign sign_b = Sign::kept, Major major_b = Major::k>
__device__ __forceinline__ void wgmma_f16(u32 (&d)[$(n / 4)], const u32 (&a)[4], MatrixDescriptor b, bool accumulate) {
  asm volatile("{\n\t.reg .pred accumulate;\n\tsetp.ne.b32 accumulate, %$(n / 4 + 5), 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n$nk16.f16.f16.f16 {$[i < n / 4: %$i]}, {$[i < 4: %$(n / 4 + i)]}, %$(n / 4 + 4), accumulate, %$(n / 4 + 6), %$(n / 4 + 7), %$(n / 4 + 8);\n\t}"
               : $[i < n / 4: "+r"(d[$i])]
               : $[i < 4: "r"(a[$i])], "l"(b.bits), "r"(static_cast<u32>(accumulate)), "n"(static_cast<int>(sign_a)), "n"(static_cast<int>(sign_b)), "n"(static_cast<int>(major_b)));
}

//@ end
}  // namespace tmajit::ptx
