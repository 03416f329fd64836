// Elements that a thread combines with those in global memory.  PTX ISA, "red" and "atom".  PTX 7.8, sm_90.
//@ # Relaxed, at GPU scope: each operation is atomic, and unordered with all others. bulk_tensor_reduce.cuh defines inc and dec.
//@ # add of f16 and bf16 keeps subnormals; add of f32 flushes them. There is no min or max of single f16 or
//@ # bf16 elements: see half_extreme.cuh in templates/device.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ each form of add.u32 add.s32 min.u32 min.s32 max.u32 max.s32 inc.u32 dec.u32 and.b32 or.b32 xor.b32
// Combines the element at `to` with `value` by `$form`.
__device__ __forceinline__ void global_reduce_$_form(void* to, u32 value) {
  asm volatile("red.relaxed.gpu.global.$form [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(value) : "memory");
}

//@ end
//@ each form of add.u64 min.u64 min.s64 max.u64 max.s64 and.b64 or.b64 xor.b64
// Combines the element at `to` with `value` by `$form`.
__device__ __forceinline__ void global_reduce_$_form(void* to, u64 value) {
  asm volatile("red.relaxed.gpu.global.$form [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(value) : "memory");
}

//@ end
//@ each form of add.noftz.f16 add.noftz.bf16
// Combines the element at `to` with `value` by `$form`.
__device__ __forceinline__ void global_reduce_$_form(void* to, u16 value) {
  asm volatile("red.relaxed.gpu.global.$form [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "h"(value) : "memory");
}

//@ end
// Adds `value` to the element at `to`.
__device__ __forceinline__ void global_reduce_add_f32(void* to, u32 value) {
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;"
               ::"l"(__cvta_generic_to_global(to)), "f"(__uint_as_float(value)) : "memory");
}

// Adds `value` to the element at `to`.
__device__ __forceinline__ void global_reduce_add_f64(void* to, u64 value) {
  asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;"
               ::"l"(__cvta_generic_to_global(to)), "d"(__longlong_as_double(static_cast<i64>(value))) : "memory");
}

// Adds two f32 to those at `to`, a multiple of 8. Each is added on its own.  PTX 8.1, sm_90.
__device__ __forceinline__ void global_reduce_add_v2_f32(void* to, const u32 (&word)[2]) {
  asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};"
               ::"l"(__cvta_generic_to_global(to)), "f"(__uint_as_float(word[0])), "f"(__uint_as_float(word[1])) : "memory");
}

// Adds four f32 to those at `to`, a multiple of 16. Each is added on its own.  PTX 8.1, sm_90.
__device__ __forceinline__ void global_reduce_add_v4_f32(void* to, const u32 (&word)[4]) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
               ::"l"(__cvta_generic_to_global(to)), "f"(__uint_as_float(word[0])), "f"(__uint_as_float(word[1])),
                 "f"(__uint_as_float(word[2])), "f"(__uint_as_float(word[3])) : "memory");
}

//@ each pair of f16x2 bf16x2
// Adds two elements to those at `to`, a multiple of 4. Each is added on its own.
__device__ __forceinline__ void global_reduce_add_noftz_$pair(void* to, u32 value) {
  asm volatile("red.relaxed.gpu.global.add.noftz.$pair [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(value) : "memory");
}

// Adds four elements to those at `to`, a multiple of 8. Each is added on its own.  PTX 8.1, sm_90.
__device__ __forceinline__ void global_reduce_add_noftz_v2_$pair(void* to, const u32 (&word)[2]) {
  asm volatile("red.relaxed.gpu.global.add.noftz.v2.$pair [%0], {%1, %2};"
               ::"l"(__cvta_generic_to_global(to)), "r"(word[0]), "r"(word[1]) : "memory");
}

// Adds eight elements to those at `to`, a multiple of 16. Each is added on its own.  PTX 8.1, sm_90.
__device__ __forceinline__ void global_reduce_add_noftz_v4_$pair(void* to, const u32 (&word)[4]) {
  asm volatile("red.relaxed.gpu.global.add.noftz.v4.$pair [%0], {%1, %2, %3, %4};"
               ::"l"(__cvta_generic_to_global(to)), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]) : "memory");
}

//@ end
// Replaces the element at `to` by `value` if it equals `expected`; returns the old element.
__device__ __forceinline__ u16 compare_and_swap(u16* to, u16 expected, u16 value) {
  u16 found;
  asm volatile("atom.relaxed.gpu.global.cas.b16 %0, [%1], %2, %3;"
               : "=h"(found) : "l"(__cvta_generic_to_global(to)), "h"(expected), "h"(value) : "memory");
  return found;
}

}  // namespace tmajit::ptx
