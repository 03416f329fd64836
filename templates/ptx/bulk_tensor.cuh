// Bulk tensor copies in tile mode, one to five dimensions.
// PTX ISA, "cp.async.bulk.tensor", "cp.async.bulk.prefetch.tensor" and "prefetch.tensormap".  PTX 8.0, sm_90.
//
// Coordinates are those of the tile's first element, innermost dimension first. Shared addresses are
// multiples of 128. The innermost coordinate times the element size must be a multiple of 16 bytes (else the
// instruction is illegal); a store's coordinates are not negative.
#pragma once
#include "tmajit/cache_hint.cuh"

namespace tmajit::ptx {

// Brings the tensor map itself into the descriptor cache.
__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// global → shared: the box at `at`; `barrier` receives complete_tx of the whole tile's bytes, what lies out
// of bounds included.
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<1>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2}], [%3], %4;" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(barrier), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<1>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2}], [%3];" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<2>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(barrier), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<2>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<3>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(barrier), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<3>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<4>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(barrier), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<4>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(barrier)
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
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<5>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(destination),
      "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(barrier)
      : "memory");
}

// shared → global: the box at `at`, what lies out of bounds not written; completes in a bulk group.
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<1>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%1}], [%2], %3;" ::"l"(&map),
      "r"(at.at[0]), "r"(source), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<1>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
      "[%0, {%1}], [%2];" ::"l"(&map),
      "r"(at.at[0]), "r"(source)
      : "memory");
}
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<2>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%1, %2}], [%3], %4;" ::"l"(&map),
      "r"(at.at[0]), "r"(at.at[1]), "r"(source), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<2>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2}], [%3];" ::"l"(&map),
      "r"(at.at[0]), "r"(at.at[1]), "r"(source)
      : "memory");
}
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<3>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%1, %2, %3}], [%4], %5;" ::"l"(&map),
      "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(source), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<3>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2, %3}], [%4];" ::"l"(&map),
      "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(source)
      : "memory");
}
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<4>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group.L2::cache_hint "
      "[%0, {%1, %2, %3, %4}], [%5], %6;" ::"l"(&map),
      "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(source), "l"(policy)
      : "memory");
}
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<4>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2, %3, %4}], [%5];" ::"l"(&map),
      "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(source)
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
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<5>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group "
      "[%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(&map),
      "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(source)
      : "memory");
}

// global → L2: the box at `at`.
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<1>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];" ::"l"(&map), "r"(at.at[0]));
}
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<2>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(at.at[0]),
               "r"(at.at[1]));
}
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<3>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(&map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]));
}
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<4>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1, %2, %3, %4}];" ::"l"(&map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]));
}
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<5>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1, %2, %3, %4, %5}];" ::"l"(&map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]));
}

}  // namespace tmajit::ptx
