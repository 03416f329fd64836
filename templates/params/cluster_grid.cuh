// The tiles that the CTAs of clusters do together.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

template <u32 rank>
struct ClusterGrid {
  Divider tiles[rank];  // of a cluster, in each dimension of the views, outermost first
  u32 count;            // of all of them
  u32 share;            // that a cluster does, one after the other
};

//@ if host
template <u32 rank>
struct ClusterGridLayout : ClusterGridLayout<rank - 1> {
  using Grid = ClusterGrid<rank>;
  static_assert(sizeof(Grid) == 12 * rank + 8 && alignof(Grid) == 4);
  static_assert(TMAJIT_OFFSET(Grid, count) == 12 * rank && TMAJIT_OFFSET(Grid, share) == 12 * rank + 4);
};
template <>
struct ClusterGridLayout<0> {};
static_assert(sizeof(ClusterGridLayout<8>) > 0);  // of all ranks to 8
//@ end

}  // namespace tmajit::params
