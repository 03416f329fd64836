// Matrices of 8 × 8 elements of 16 bits between shared memory and the registers of a warp.
//@ # PTX ISA, "ldmatrix" (PTX 6.5, sm_75) and "stmatrix" (PTX 7.8, sm_90). All lanes of a warp call together. Lane 8·m
//@ # + r gives the address of row r of matrix m, 16 bytes at a multiple of 16. Lane l holds one word of each matrix: the
//@ # elements 2·(l % 4) and 2·(l % 4) + 1 of row l / 4, or of column l / 4 in a transposed matrix.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ each count of 1 2 4
// Loads $count matrices.
__device__ __forceinline__ void load_matrices(u32 (&word)[$count], u32 row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x$count.shared.b16 {$[i < count: %$i]}, [%$count];"
               : $[i < count: "=r"(word[$i])] : "r"(row) : "memory");
}
__device__ __forceinline__ void load_matrices_transposed(u32 (&word)[$count], u32 row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x$count.trans.shared.b16 {$[i < count: %$i]}, [%$count];"
               : $[i < count: "=r"(word[$i])] : "r"(row) : "memory");
}
__device__ __forceinline__ void store_matrices(u32 row, const u32 (&word)[$count]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x$count.shared.b16 [%0], {$[i < count: %$(i + 1)]};"
               ::"r"(row), $[i < count: "r"(word[$i])] : "memory");
}
__device__ __forceinline__ void store_matrices_transposed(u32 row, const u32 (&word)[$count]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x$count.trans.shared.b16 [%0], {$[i < count: %$(i + 1)]};"
               ::"r"(row), $[i < count: "r"(word[$i])] : "memory");
}

//@ end
}  // namespace tmajit::ptx
