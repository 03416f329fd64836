// Bulk tensor copies in tile mode.  PTX ISA, "cp.async.bulk.tensor".  PTX 8.0, sm_90.
//@ # And "cp.async.bulk.prefetch.tensor". One to five dimensions; a generated kernel has only its rank's functions.
//@ #
//@ # Coordinates are those of the tile's first element, innermost dimension first. Shared addresses are
//@ # multiples of 128. The innermost coordinate times the element size must be a multiple of 16 bytes (else the
//@ # instruction is illegal); a store's coordinates are not negative.
#pragma once
#include "tmajit/cache_hint.cuh"
#include "tmajit/cta_mask.cuh"
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ each rank from 1 to 5 if rank, ctas from 0 to multicast, hint from 0 to cache_hints
// global → shared: the box at `at`; `barrier` receives complete_tx of the tile's bytes, those out of bounds too.
//@ # With `ctas`: into those CTAs of the cluster, at the same offsets of tile and barrier in each.
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<$rank>& at,
                                            u32 barrier$[x < ctas: , CtaMask ctas]$[x < hint: , CachePolicy policy]) {
  asm volatile(
      "cp.async.bulk.tensor.$rankd.shared::cluster.global.tile.mbarrier::complete_tx::bytes$[x < ctas: .multicast::cluster]$[x < hint: .L2::cache_hint] [%0], [%1, {$[i < rank: %$(i + 2)]}], [%$(rank + 2)]$[x < ctas: , %$(rank + 3)]$[x < hint: , %$(rank + ctas + 3)];"
      ::"r"(destination), "l"(&map), $[i < rank: "r"(at.at[$i])], "r"(barrier)$[x < ctas: , "h"(ctas.bits)]$[x < hint: , "l"(policy.bits)] : "memory");
}

// shared → global: the box at `at`, without elements out of bounds; completes in a bulk group.
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<$rank>& at, u32 source$[x < hint: , CachePolicy policy]) {
  asm volatile(
      "cp.async.bulk.tensor.$rankd.global.shared::cta.tile.bulk_group$[x < hint: .L2::cache_hint] [%0, {$[i < rank: %$(i + 1)]}], [%$(rank + 1)]$[x < hint: , %$(rank + 2)];"
      ::"l"(&map), $[i < rank: "r"(at.at[$i])], "r"(source)$[x < hint: , "l"(policy.bits)] : "memory");
}

// global → L2: the box at `at`.
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<$rank>& at$[x < hint: , CachePolicy policy]) {
  asm volatile("cp.async.bulk.prefetch.tensor.$rankd.L2.global.tile$[x < hint: .L2::cache_hint] [%0, {$[i < rank: %$(i + 1)]}]$[x < hint: , %$(rank + 1)];"
               ::"l"(&map), $[i < rank: "r"(at.at[$i])]$[x < hint: , "l"(policy.bits)]);
}
//@ end

}  // namespace tmajit::ptx
