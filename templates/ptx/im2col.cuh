// Bulk tensor copies in im2col mode.  PTX ISA, "cp.async.bulk.tensor", .im2col.  PTX 8.0, sm_90.
//@ # For maps that were encoded for im2col, of three to five dimensions: channels, one to three of the image, images.
//@ # `at` is the first pixel, innermost dimension (channels) first. Shared addresses are multiples of 128.
//@ #
//@ # A load walks the pixels of the map's bounding box, from `at` on, and reads each at its position plus the offsets;
//@ # pixels outside the image are zero. Offsets are those of the filter's tap, innermost dimension of the image
//@ # first, and not negative: less than 2^16 for one dimension, 2^8 for two, 2^5 for three.
#pragma once
#include "tmajit/cache_hint.cuh"
#include "tmajit/cta_mask.cuh"
#include "tmajit/types.cuh"

namespace tmajit {

// The offsets of a filter's tap, innermost dimension of the image first.
template <u32 dimensions> struct TapOffsets { u16 at[dimensions]; };

}  // namespace tmajit

namespace tmajit::ptx {

//@ each rank from 3 to 5 if rank, ctas from 0 to multicast, hint from 0 to cache_hints
// global → shared: pixels from `at` on, shifted by `tap`; `barrier` receives complete_tx of all their bytes.
//@ # With `ctas`: into those CTAs of the cluster, at the same offsets of pixels and barrier in each.
__device__ __forceinline__ void im2col_load(u32 destination, const TensorMap& map, const Coordinates<$rank>& at,
                                            const TapOffsets<$(rank - 2)>& tap, u32 barrier$[x < ctas: , CtaMask ctas]$[x < hint: , CachePolicy policy]) {
  asm volatile(
      "cp.async.bulk.tensor.$rankd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes$[x < ctas: .multicast::cluster]$[x < hint: .L2::cache_hint] [%0], [%1, {$[i < rank: %$(i + 2)]}], [%$(rank + 2)], {$[i < rank - 2: %$(rank + i + 3)]}$[x < ctas: , %$(rank * 2 + 1)]$[x < hint: , %$(rank * 2 + ctas + 1)];"
      ::"r"(destination), "l"(&map), $[i < rank: "r"(at.at[$i])], "r"(barrier), $[i < rank - 2: "h"(tap.at[$i])]$[x < ctas: , "h"(ctas.bits)]$[x < hint: , "l"(policy.bits)] : "memory");
}

// shared → global: stores the pixels from `at` on; completes in a bulk group.
__device__ __forceinline__ void im2col_store(const TensorMap& map, const Coordinates<$rank>& at, u32 source$[x < hint: , CachePolicy policy]) {
  asm volatile(
      "cp.async.bulk.tensor.$rankd.global.shared::cta.im2col_no_offs.bulk_group$[x < hint: .L2::cache_hint] [%0, {$[i < rank: %$(i + 1)]}], [%$(rank + 1)]$[x < hint: , %$(rank + 2)];"
      ::"l"(&map), $[i < rank: "r"(at.at[$i])], "r"(source)$[x < hint: , "l"(policy.bits)] : "memory");
}

// global → L2: the pixels that im2col_load with the same arguments reads.
__device__ __forceinline__ void im2col_prefetch(const TensorMap& map, const Coordinates<$rank>& at, const TapOffsets<$(rank - 2)>& tap$[x < hint: , CachePolicy policy]) {
  asm volatile(
      "cp.async.bulk.prefetch.tensor.$rankd.L2.global.im2col$[x < hint: .L2::cache_hint] [%0, {$[i < rank: %$(i + 1)]}], {$[i < rank - 2: %$(rank + i + 1)]}$[x < hint: , %$(rank * 2 - 1)];"
      ::"l"(&map), $[i < rank: "r"(at.at[$i])], $[i < rank - 2: "h"(tap.at[$i])]$[x < hint: , "l"(policy.bits)]);
}
//@ end

}  // namespace tmajit::ptx
