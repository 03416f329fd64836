// Bulk tensor copies in tile mode.  PTX ISA, "cp.async.bulk.tensor".  PTX 8.0, sm_90.
//@ # And "cp.async.bulk.prefetch.tensor". One to five dimensions: of a generated kernel those of its rank.
//@ #
//@ # Coordinates are those of the tile's first element, innermost dimension first. Shared addresses are
//@ # multiples of 128. The innermost coordinate times the element size must be a multiple of 16 bytes (else the
//@ # instruction is illegal); a store's coordinates are not negative.
#pragma once
#include "tmajit/types.cuh"
//@ if cache_hints
#include "tmajit/cache_hint.cuh"
//@ end

namespace tmajit::ptx {

//@ used tensor_load
// global → shared: the box at `at`; `barrier` receives complete_tx of the tile's bytes, those out of bounds too.
//@ if rank1
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<1>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(barrier) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<1>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2}], [%3], %4;"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(barrier), "l"(policy) : "memory");
}
//@ end
//@ end
//@ if rank2
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<2>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(barrier) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<2>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(barrier), "l"(policy) : "memory");
}
//@ end
//@ end
//@ if rank3
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<3>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(barrier) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<3>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(barrier), "l"(policy) : "memory");
}
//@ end
//@ end
//@ if rank4
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<4>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(barrier) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<4>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4, %5}], [%6], %7;"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(barrier), "l"(policy) : "memory");
}
//@ end
//@ end
//@ if rank5
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<5>& at,
                                            u32 barrier) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(barrier) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_load(u32 destination, const TensorMap& map, const Coordinates<5>& at,
                                            u32 barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;"
      ::"r"(destination), "l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(barrier), "l"(policy) : "memory");
}
//@ end
//@ end
//@ end

//@ used tensor_store
// shared → global: the box at `at`, what lies out of bounds not written; completes in a bulk group.
//@ if rank1
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<1>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];"
      ::"l"(&map), "r"(at.at[0]), "r"(source) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<1>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1}], [%2], %3;"
      ::"l"(&map), "r"(at.at[0]), "r"(source), "l"(policy) : "memory");
}
//@ end
//@ end
//@ if rank2
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<2>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
      ::"l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(source) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<2>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;"
      ::"l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(source), "l"(policy) : "memory");
}
//@ end
//@ end
//@ if rank3
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<3>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];"
      ::"l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(source) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<3>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2, %3}], [%4], %5;"
      ::"l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(source), "l"(policy) : "memory");
}
//@ end
//@ end
//@ if rank4
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<4>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3, %4}], [%5];"
      ::"l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(source) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<4>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2, %3, %4}], [%5], %6;"
      ::"l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(source), "l"(policy) : "memory");
}
//@ end
//@ end
//@ if rank5
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<5>& at, u32 source) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];"
      ::"l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(source) : "memory");
}
//@ if cache_hints
__device__ __forceinline__ void tensor_store(const TensorMap& map, const Coordinates<5>& at, u32 source,
                                             CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2, %3, %4, %5}], [%6], %7;"
      ::"l"(&map), "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]), "r"(source), "l"(policy) : "memory");
}
//@ end
//@ end
//@ end

//@ used tensor_prefetch
// global → L2: the box at `at`.
//@ if rank1
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<1>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];" ::"l"(&map), "r"(at.at[0]));
}
//@ end
//@ if rank2
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<2>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map), "r"(at.at[0]),
               "r"(at.at[1]));
}
//@ end
//@ if rank3
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<3>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(&map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]));
}
//@ end
//@ if rank4
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<4>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1, %2, %3, %4}];" ::"l"(&map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]));
}
//@ end
//@ if rank5
__device__ __forceinline__ void tensor_prefetch(const TensorMap& map, const Coordinates<5>& at) {
  asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1, %2, %3, %4, %5}];" ::"l"(&map),
               "r"(at.at[0]), "r"(at.at[1]), "r"(at.at[2]), "r"(at.at[3]), "r"(at.at[4]));
}
//@ end
//@ end

}  // namespace tmajit::ptx
