// The tiles of a tensor, and the ends of its rows that a bulk tensor store cannot write.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

template <u32 rank> struct TileGrid { Divider tiles[rank]; };  // in each dimension, outermost first

// The part of the destination's rows that threads store: the elements from column `begin` on.
template <u32 rank> struct RowTail {
  u64 address;        // of the destination's first element
  u64 strides[rank];  // bytes, outermost first
  u32 extent[rank];   // elements, outermost first
  u32 begin;          // first column outside the tensor map; extent[rank - 1] if the map covers all
};

//@ if host
template <u32 rank>
struct TileGridLayout : TileGridLayout<rank - 1> {
  using Grid = TileGrid<rank>;
  static_assert(sizeof(Grid) == 12 * rank && alignof(Grid) == 4);
  using Tail = RowTail<rank>;
  static_assert(sizeof(Tail) == 8 + 8 * rank + (4 * rank + 4 + 7) / 8 * 8 && alignof(Tail) == 8);
  static_assert(TMAJIT_OFFSET(Tail, strides) == 8);
  static_assert(TMAJIT_OFFSET(Tail, extent) == 8 + 8 * rank);
  static_assert(TMAJIT_OFFSET(Tail, begin) == 8 + 12 * rank);
};
template <>
struct TileGridLayout<0> {};
static_assert(sizeof(TileGridLayout<8>) > 0);  // checks ranks 1 to 8
//@ end

}  // namespace tmajit::params
