// What a kernel that picks words of runs from lines knows of its tile: numbers of the launch, so that one kernel does for tiles
// of any size and shape.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

// One step of taking a number apart: the index in a dimension, and what that index is worth.
struct Digit {
  i64 step;       // bytes of memory from one index to the next
  Divider count;  // indices
  u32 dimension;
  i32 image;  // bytes of the image from one index to the next
  u32 skew;   // the logarithm of how many indices have 16 bytes more after them; 31: none
};

// Digits vary fastest first; those that a list does not need count one index.
template <u32 rank>
struct PickTile {
  Digit line[rank];   // of a line's number: steps of the source
  Digit run[rank];    // of a chunk's, but for `along`: steps of the destination
  Digit place[rank];  // of an element's in its run, or in its part of one
  Digit along;        // runs of a chunk, or parts of a run: `count` is of chunks
  u32 box[rank];      // elements of a tile
  i32 reach[rank];    // bytes of a line from one index to the next; 0 in dimensions that it does not span
  Divider units;      // of 16 bytes that a line meets
  u32 lines;
  u32 line_bytes;
  u32 below;  // bytes of a line before its element of index 0
  u32 chunks;
  u32 chunk;          // indices of `along` in a chunk, `every` indices apart
  u32 every;          // a power of two, so many that they lie alike in their words
  u32 parts;          // whether `along` counts parts of a run
  u32 run_dimension;  // the outermost of a run
  u32 inner;          // elements from one index of that dimension to the next
  u32 part_elements;
  u32 words;        // that a part meets
  u32 lanes_log;    // the logarithm of the lanes of a warp that go along a run; the others do other chunks
  u32 warps_log;    // the logarithm of the warps that go along a run
  u32 image_bytes;  // a multiple of 16
  u32 images;       // two where a CTA does several tiles; the tables follow
  u32 tiles;
  u32 tiles_per_cta;
};

//@ if host
static_assert(sizeof(Digit) == 32 && TMAJIT_OFFSET(Digit, count) == 8 && TMAJIT_OFFSET(Digit, dimension) == 20);
static_assert(TMAJIT_OFFSET(Digit, image) == 24 && TMAJIT_OFFSET(Digit, skew) == 28);
template <u32 rank>
struct PickTileLayout : PickTileLayout<rank - 1> {
  using Tile = PickTile<rank>;
  static_assert(sizeof(Tile) == 104 * rank + 112 && alignof(Tile) == 8);
  static_assert(TMAJIT_OFFSET(Tile, run) == 32 * rank && TMAJIT_OFFSET(Tile, place) == 64 * rank);
  static_assert(TMAJIT_OFFSET(Tile, along) == 96 * rank && TMAJIT_OFFSET(Tile, box) == 96 * rank + 32);
  static_assert(TMAJIT_OFFSET(Tile, reach) == 100 * rank + 32 && TMAJIT_OFFSET(Tile, units) == 104 * rank + 32);
  static_assert(TMAJIT_OFFSET(Tile, lines) == 104 * rank + 44 && TMAJIT_OFFSET(Tile, chunks) == 104 * rank + 56);
  static_assert(TMAJIT_OFFSET(Tile, words) == 104 * rank + 84 && TMAJIT_OFFSET(Tile, tiles) == 104 * rank + 104);
};
template <>
struct PickTileLayout<0> {};
static_assert(sizeof(PickTileLayout<8>) > 0);  // of all ranks to 8
//@ end

}  // namespace tmajit::params
