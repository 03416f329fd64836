// The least and the greatest of f16 and bf16 in global memory, element by element: no instruction combines them.
#pragma once
#include "tmajit/extreme.cuh"
#include "tmajit/global_reduce.cuh"

namespace tmajit {

//@ each op of min max
//@ each type of f16 bf16
//@ used global_$op_$type
// The element at `to`: `$op` of it and the value, as bits; a number wins over NaN.
__device__ __forceinline__ void global_$op_$type(u16* to, u16 value) {
  u16 expected = *static_cast<volatile u16*>(to);
  for (;;) {
    const u16 found = ptx::compare_and_swap(to, expected, ptx::$op_$type(expected, value));
    if (found == expected) return;
    expected = found;
  }
}
//@ end

//@ end
//@ end
}  // namespace tmajit
