// Elements that the copy engine combines, by addition for example, into other memory.  PTX ISA, "cp.reduce.async.bulk".  PTX 8.0, sm_90.
//@ # Both addresses and the number of bytes are multiples of 16. Each element is combined atomically, unordered with
//@ # all others. bulk_tensor_reduce.cuh defines inc and dec. add keeps subnormals; PTX demands .noftz for f16 and bf16. An
//@ # f64 sum with a NaN has the bits of the NaN in the source or, if only memory has one, of that NaN (docs/tma.md).
//@ #
//@ # bulk_reduce_* combine into global memory, at GPU scope, and complete in a bulk group; bulk_reduce_shared_* into
//@ # the shared memory of another CTA of the cluster, at cluster scope, whose `barrier` receives complete_tx of
//@ # `bytes`. reduction.cuh in templates/device lists the operations of each element type, and rejects all others.
#pragma once
#include "tmajit/cache_hint.cuh"
#include "tmajit/types.cuh"

namespace tmajit::ptx {

//@ each form of add.u32 add.s32 add.u64 add.f32 add.f64 add.noftz.f16 add.noftz.bf16 min.u32 min.s32 min.u64 min.s64 min.f16 min.bf16 max.u32 max.s32 max.u64 max.s64 max.f16 max.bf16 inc.u32 dec.u32 and.b32 and.b64 or.b32 or.b64 xor.b32 xor.b64, hint from 0 to cache_hints
// shared → global: combines each element by `$form` with the one in memory.
__device__ __forceinline__ void bulk_reduce_$_form(void* destination, u32 source, u32 bytes$[x < hint: , CachePolicy policy]) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group$[x < hint: .L2::cache_hint].$form [%0], [%1], %2$[x < hint: , %3];"
      ::"l"(__cvta_generic_to_global(destination)), "r"(source), "r"(bytes)$[x < hint: , "l"(policy.bits)] : "memory");
}

//@ end
//@ each form of add.u32 add.s32 add.u64 min.u32 min.s32 max.u32 max.s32 inc.u32 dec.u32 and.b32 or.b32 xor.b32
// shared → shared memory of a CTA of the cluster: combines each element by `$form` with the one in memory.
__device__ __forceinline__ void bulk_reduce_shared_$_form(u32 destination, u32 source, u32 bytes, u32 barrier) {
  asm volatile(
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.$form [%0], [%1], %2, [%3];"
      ::"r"(destination), "r"(source), "r"(bytes), "r"(barrier) : "memory");
}

//@ end
}  // namespace tmajit::ptx
