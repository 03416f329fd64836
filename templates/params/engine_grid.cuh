// The tiles of two views that the copy engine moves.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

template <u32 rank>
struct EngineGrid {
  Divider tiles[rank];  // in each dimension of the views, outermost first
  u32 count;            // number of tiles
  i32 box[rank];        // elements of the map from one tile to the next
  // Elements of the map's outermost dimension from one index of each dimension to the next. If views have more than
  // the five dimensions of a tensor map, those in which a tile has one index share that dimension of the map.
  i32 source_fold[rank];
  i32 destination_fold[rank];
};

// The loads of a tile: adjacent boxes in the innermost dimension.
struct EngineBox {
  u32 parts;
  i32 part;        // elements of the map that each box spans
  u32 part_bytes;  // shared memory from one box to the next
  u32 load_bytes;  // bytes of the whole tile
};

//@ if host
template <u32 rank>
struct EngineGridLayout : EngineGridLayout<rank - 1> {
  using Grid = EngineGrid<rank>;
  static_assert(sizeof(Grid) == 24 * rank + 4 && alignof(Grid) == 4);
  static_assert(TMAJIT_OFFSET(Grid, count) == 12 * rank);
  static_assert(TMAJIT_OFFSET(Grid, box) == 12 * rank + 4);
  static_assert(TMAJIT_OFFSET(Grid, source_fold) == 16 * rank + 4);
  static_assert(TMAJIT_OFFSET(Grid, destination_fold) == 20 * rank + 4);
};
template <>
struct EngineGridLayout<0> {};
static_assert(sizeof(EngineGridLayout<8>) > 0);  // checks ranks 1 to 8
static_assert(sizeof(EngineBox) == 16 && TMAJIT_OFFSET(EngineBox, part) == 4);
static_assert(TMAJIT_OFFSET(EngineBox, part_bytes) == 8 && TMAJIT_OFFSET(EngineBox, load_bytes) == 12);
//@ end

}  // namespace tmajit::params
