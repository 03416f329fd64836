// What a kernel that picks words of runs from lines knows of its tile: numbers of the launch, so that one kernel does for tiles
// of any size and shape.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

// One step of taking a number apart: the index in a dimension.
struct Digit {
  i64 step;       // bytes of memory from one index to the next
  Divider count;  // indices
  u32 dimension;
};

// What such an index is worth in an image.
struct ImageStep {
  i32 bytes;  // from one index to the next
  u32 skew;   // the logarithm of how many indices have 16 bytes more after them; 31: none
};

// What is known of a source: its lines, and where its image holds what the tile's digits stand for.
template <u32 rank>
struct PickSource {
  Digit line[rank];         // of a line's number: steps of the source
  ImageStep in_line[rank];  // likewise
  ImageStep run[rank];      // of PickTile::run
  ImageStep place[rank];    // of PickTile::place
  i32 reach[rank];          // bytes of a line from one index to the next; 0 in dimensions that it does not span
  i32 along;                // bytes of the image from one index of PickTile::along to the next
  Divider units;            // of 16 bytes that a line meets
  u32 lines;
  u32 line_bytes;
  u32 below;       // bytes of a line before its element of index 0
  u32 image;       // where it begins among those of all sources, a multiple of 16
  u32 first_line;  // likewise of the table of lines
};

// Digits vary fastest first; those that a list does not need count one index.
template <u32 rank, u32 sources>
struct PickTile {
  Digit run[rank];    // of a chunk's number, but for `along`: steps of the destination
  Digit place[rank];  // of an element's in its run, or in its part of one
  Digit along;        // runs of a chunk, or parts of a run: `count` is of chunks
  u32 box[rank];      // elements of a tile
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
  u32 image_bytes;  // of all sources; a multiple of 16
  u32 images;       // two where a CTA does several tiles; the tables follow
  u32 lines;        // of all sources
  u32 tiles;
  u32 tiles_per_cta;
  PickSource<rank> source[sources];
};

//@ if host
static_assert(sizeof(Digit) == 24 && TMAJIT_OFFSET(Digit, count) == 8 && TMAJIT_OFFSET(Digit, dimension) == 20);
static_assert(sizeof(ImageStep) == 8 && TMAJIT_OFFSET(ImageStep, skew) == 4);
template <u32 rank>
struct PickTileLayout : PickTileLayout<rank - 1> {
  using Source = PickSource<rank>;
  static_assert(sizeof(Source) == (52 * rank + 36 + 7) / 8 * 8 && alignof(Source) == 8);
  static_assert(TMAJIT_OFFSET(Source, in_line) == 24 * rank && TMAJIT_OFFSET(Source, run) == 32 * rank);
  static_assert(TMAJIT_OFFSET(Source, place) == 40 * rank && TMAJIT_OFFSET(Source, reach) == 48 * rank);
  static_assert(TMAJIT_OFFSET(Source, along) == 52 * rank && TMAJIT_OFFSET(Source, units) == 52 * rank + 4);
  static_assert(TMAJIT_OFFSET(Source, lines) == 52 * rank + 16 && TMAJIT_OFFSET(Source, first_line) == 52 * rank + 32);

  using One = PickTile<rank, 1>;
  using Most = PickTile<rank, 8>;
  static_assert(TMAJIT_OFFSET(One, place) == 24 * rank && TMAJIT_OFFSET(One, along) == 48 * rank);
  static_assert(TMAJIT_OFFSET(One, box) == 48 * rank + 24 && TMAJIT_OFFSET(One, chunks) == 52 * rank + 24);
  static_assert(TMAJIT_OFFSET(One, words) == 52 * rank + 52 && TMAJIT_OFFSET(One, tiles) == 52 * rank + 76);
  static_assert(TMAJIT_OFFSET(One, source) == (52 * rank + 84 + 7) / 8 * 8);
  static_assert(TMAJIT_OFFSET(Most, source) == TMAJIT_OFFSET(One, source) && alignof(One) == 8);
  static_assert(sizeof(One) == TMAJIT_OFFSET(One, source) + sizeof(Source));
  static_assert(sizeof(Most) == TMAJIT_OFFSET(One, source) + 8 * sizeof(Source));
};
template <>
struct PickTileLayout<0> {};
static_assert(sizeof(PickTileLayout<8>) > 0);  // of all ranks to 8
//@ end

}  // namespace tmajit::params
