// The destination, where threads store to it.
#pragma once
#include "tmajit/scalars.cuh"

namespace tmajit::params {

template <u32 rank>
struct DirectView {
  Address<u8> first;  // the element with all indices 0
  i64 step[rank];     // bytes from one index to the next
  u64 extent[rank];
};

//@ if host
template <u32 rank>
struct DirectViewLayout : DirectViewLayout<rank - 1> {
  using View = DirectView<rank>;
  static_assert(sizeof(View) == 8 + 16 * rank && alignof(View) == 8);
  static_assert(TMAJIT_OFFSET(View, step) == 8 && TMAJIT_OFFSET(View, extent) == 8 + 8 * rank);
};
template <>
struct DirectViewLayout<0> {};
static_assert(sizeof(DirectViewLayout<8>) > 0);  // of all ranks to 8
//@ end

}  // namespace tmajit::params
