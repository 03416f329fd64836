// A batch of tensors of different sizes, as a table in global memory.
#pragma once
#include "tmajit/scalars.cuh"

namespace tmajit::params {

// One destination and its source. Steps are bytes from one index of a dimension to the next, outermost first. If tensor maps
// describe the tensor, all steps but the last are multiples of 16.
template <u32 rank> struct RaggedTensor {
  u64 destination;  // the address of the element with all indices 0
  u64 source;
  u64 destination_step[rank];  // modulo 2^64: they may be negative where threads move the tensor
  u64 source_step[rank];
  u32 extent[rank];  // elements
  u32 tiles[rank];   // tiles in each dimension
  u32 by_engine;     // whether tensor maps describe both tensors; if not, threads move the elements
  u32 unused;
};

// The table: its addresses and counts.
struct RaggedBatch {
  u64 tensors;  // the address of `count` RaggedTensors, none of which is empty
  u64 first;    // the address of `count` + 1 u32: the number of each tensor's first tile, then the number of all tiles
  u32 count;
  u32 tiles;
};

//@ if host
template <u32 rank>
struct RaggedTensorLayout : RaggedTensorLayout<rank - 1> {
  using Tensor = RaggedTensor<rank>;
  static_assert(sizeof(Tensor) == 24 + 24 * rank && alignof(Tensor) == 8);
  static_assert(TMAJIT_OFFSET(Tensor, destination_step) == 16);
  static_assert(TMAJIT_OFFSET(Tensor, source_step) == 16 + 8 * rank);
  static_assert(TMAJIT_OFFSET(Tensor, extent) == 16 + 16 * rank);
  static_assert(TMAJIT_OFFSET(Tensor, tiles) == 16 + 20 * rank);
  static_assert(TMAJIT_OFFSET(Tensor, by_engine) == 16 + 24 * rank);
};
template <>
struct RaggedTensorLayout<0> {};
static_assert(sizeof(RaggedTensorLayout<5>) > 0);  // checks ranks 1 to 5
static_assert(sizeof(RaggedBatch) == 24 && alignof(RaggedBatch) == 8);
static_assert(TMAJIT_OFFSET(RaggedBatch, first) == 8 && TMAJIT_OFFSET(RaggedBatch, count) == 16);
//@ end

}  // namespace tmajit::params
