// Two views of one shape: parameters of kernels that move bits from one to the other.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

// Dimensions in the order of the destination's strides, the largest first.
template <u32 rank>
struct ViewPair {
  Address<const u8> source;
  Address<const u8> source_begin;  // all bytes of the source are in [source_begin, source_end)
  Address<const u8> source_end;
  Address<u8> destination;
  i64 source_step[rank];  // bytes from one index to the next
  i64 destination_step[rank];
  u64 extent[rank];
  Divider tiles[rank];  // or groups of them
};

//@ if host
template <u32 rank>
struct ViewPairLayout : ViewPairLayout<rank - 1> {
  using Pair = ViewPair<rank>;
  static_assert(sizeof(Pair) == 32 + 24 * rank + (12 * rank + 7) / 8 * 8 && alignof(Pair) == 8);
  static_assert(TMAJIT_OFFSET(Pair, source_begin) == 8 && TMAJIT_OFFSET(Pair, source_end) == 16);
  static_assert(TMAJIT_OFFSET(Pair, destination) == 24);
  static_assert(TMAJIT_OFFSET(Pair, source_step) == 32);
  static_assert(TMAJIT_OFFSET(Pair, destination_step) == 32 + 8 * rank);
  static_assert(TMAJIT_OFFSET(Pair, extent) == 32 + 16 * rank);
  static_assert(TMAJIT_OFFSET(Pair, tiles) == 32 + 24 * rank);
};
template <>
struct ViewPairLayout<0> {};
static_assert(sizeof(ViewPairLayout<8>) > 0);  // checks ranks 1 to 8
//@ end

}  // namespace tmajit::params
