// Tiles that the copy engine combines, by addition for example, into global memory.  PTX ISA, "cp.reduce.async.bulk.tensor".  PTX 8.0, sm_90.
//@ # The map gives the elements' type:
//@ #   add           u32 i32 u64 f32 f16 bf16; subnormals are kept
//@ #   min, max      u32 i32 u64 i64 f16 bf16
//@ #   inc, dec      u32: inc is old >= value ? 0 : old + 1; dec is old == 0 || old > value ? value : old - 1
//@ #   and, or, xor  u32 i32 u64; a map of i64 is illegal, u64 has the same bits
//@ # Each element is combined atomically at GPU scope, unordered with all others. Coordinates, addresses and completion are
//@ # those of tensor_store. Elements out of bounds are not touched.
#pragma once
#include "tmajit/cache_hint.cuh"
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ each op of add min max inc dec and or xor, rank from 1 to 5 if rank, hint from 0 to cache_hints
// shared → global: the box at `at`; combines each element by `$op` with the one in memory.
__device__ __forceinline__ void tensor_reduce_$op(const TensorMap& map, const Coordinates<$rank>& at, u32 source$[x < hint: , CachePolicy policy]) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.$rankd.global.shared::cta.$op.tile.bulk_group$[x < hint: .L2::cache_hint] [%0, {$[i < rank: %$(i + 1)]}], [%$(rank + 1)]$[x < hint: , %$(rank + 2)];"
      ::"l"(&map), $[i < rank: "r"(at.at[$i])], "r"(source)$[x < hint: , "l"(policy.bits)] : "memory");
}

//@ end
//@ each op of add min max inc dec and or xor, rank from 3 to 5 if rank, hint from 0 to cache_hints
// Combines the pixels from `at` on, by a map for im2col.
__device__ __forceinline__ void im2col_reduce_$op(const TensorMap& map, const Coordinates<$rank>& at, u32 source$[x < hint: , CachePolicy policy]) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.$rankd.global.shared::cta.$op.im2col_no_offs.bulk_group$[x < hint: .L2::cache_hint] [%0, {$[i < rank: %$(i + 1)]}], [%$(rank + 1)]$[x < hint: , %$(rank + 2)];"
      ::"l"(&map), $[i < rank: "r"(at.at[$i])], "r"(source)$[x < hint: , "l"(policy.bits)] : "memory");
}

//@ end
}  // namespace tmajit::ptx
