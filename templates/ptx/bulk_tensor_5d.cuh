// Bulk tensor copies in tile mode, 5D.
// PTX ISA, "cp.async.bulk.tensor" and "cp.async.bulk.prefetch.tensor".  PTX 8.0, sm_90.
//
// Coordinates are those of the tile's first element, innermost dimension first. Shared addresses are
// multiples of 128. The innermost coordinate times the element size must be a multiple of 16 bytes (else the
// instruction is illegal); a store's coordinates are not negative.
#pragma once
#include "tmajit/cache_hint.cuh"

namespace tmajit::ptx {

// global → shared: the box at `at`; `barrier` receives complete_tx of the whole tile's bytes, what lies out
// of bounds included.
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<5>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<5>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(barrier),
      "l"(policy)
      : "memory");
}

// shared → global: the box at `at`, what lies out of bounds not written; completes in a bulk group.
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<5>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(&map),
      "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(source)
      : "memory");
}
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<5>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%1, %2, %3, %4, %5}], [%6], %7;" ::"l"(&map),
      "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(source), "l"(policy)
      : "memory");
}

// global → L2: the box at `at`.
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<5>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1, %2, %3, %4, %5}];" ::"l"(&map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]));
}

}  // namespace tmajit::ptx
