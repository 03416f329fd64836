// Products of 64 × 8 by 8 × N matrices of tf32, in f32.  PTX ISA, "wgmma.mma_async".  PTX 8.0, sm_90a.
//@ # A and B in shared memory are contiguous along K. The lower 13 bits of an element are not read. A's word i
//@ # of lane l in warp w is the element at row 16·w + l / 4 + 8·(i % 2), column l % 4 + 4·(i / 2). The template has one
//@ # definition, which the generator writes once for every N, with lists of a thread's accumulators (`each` in
//@ # templates/README.md). Their number selects the overload. wgmma.cuh states the common requirements.
#pragma once
#include "tmajit/wgmma.cuh"

namespace tmajit::ptx {

//@ each n from 8 to 256 by 8
// 64 × $n in f32, A from shared memory.
template <Sign sign_a = Sign::kept, Sign sign_b = Sign::kept>
__device__ __forceinline__ void wgmma_tf32(float (&d)[$(n / 2)], MatrixDescriptor a, MatrixDescriptor b, bool accumulate) {
  asm volatile("{\n\t.reg .pred accumulate;\n\tsetp.ne.b32 accumulate, %$(n / 2 + 2), 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n$nk8.f32.tf32.tf32 {$[i < n / 2: %$i]}, %$(n / 2), %$(n / 2 + 1), accumulate, %$(n / 2 + 3), %$(n / 2 + 4);\n\t}"
               : $[i < n / 2: "+f"(d[$i])]
               : "l"(a.bits), "l"(b.bits), "r"(static_cast<u32>(accumulate)), "n"(static_cast<int>(sign_a)), "n"(static_cast<int>(sign_b)));
}
// A from registers.
template <Sign sign_a = Sign::kept, Sign sign_b = Sign::kept>
__device__ __forceinline__ void wgmma_tf32(float (&d)[$(n / 2)], const u32 (&a)[4], MatrixDescriptor b, bool accumulate) {
  asm volatile("{\n\t.reg .pred accumulate;\n\tsetp.ne.b32 accumulate, %$(n / 2 + 5), 0;\n\t"
               "wgmma.mma_async.sync.aligned.m64n$nk8.f32.tf32.tf32 {$[i < n / 2: %$i]}, {$[i < 4: %$(n / 2 + i)]}, %$(n / 2 + 4), accumulate, %$(n / 2 + 6), %$(n / 2 + 7);\n\t}"
               : $[i < n / 2: "+f"(d[$i])]
               : $[i < 4: "r"(a[$i])], "l"(b.bits), "r"(static_cast<u32>(accumulate)), "n"(static_cast<int>(sign_a)), "n"(static_cast<int>(sign_b)));
}

//@ end
}  // namespace tmajit::ptx
