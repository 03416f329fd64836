// A mask of CTAs of a cluster.  PTX ISA, "cp.async.bulk.tensor", operand ctaMask.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

// Bit r is the CTA of rank r in the cluster (%cluster_ctarank).
struct CtaMask { u16 bits; };

// All CTAs of a cluster of `count`.
template <u32 count> __device__ __forceinline__ constexpr CtaMask all_ctas() {
  static_assert(count >= 1 && count <= 16, "a cluster has 1 to 16 CTAs");
  return {static_cast<u16>((1u << count) - 1)};
}

}  // namespace tmajit
