// What a kernel of spans knows of its launch: how its views' dimensions make up runs, columns and the rest, and its tile.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

constexpr u32 most_digits = 8;

// One step of taking a number apart: the index in a dimension.
template <u32 sources>
struct SpanDigit {
  i64 destination;      // bytes from one index to the next
  i64 source[sources];  // elements from one index to the next
  Divider count;        // indices
};

struct SpanSource {
  Address<const u8> first;
  u32 image;  // where its image begins in shared memory, if it has one
  u32 pitch;  // words from column to column of the image
};

// Digits vary fastest first: those of a run's elements in the order of the destination's memory, those of the columns in the
// order of a source's, those of what neither has.
template <u32 sources>
struct SpanTile {
  Address<u8> destination;
  SpanSource source[sources];
  SpanDigit<sources> digit[most_digits];
  u32 run_digits;      // the first ones
  u32 column_digits;   // where those of columns end
  u32 digits;
  u32 run_elements;    // of a whole run
  u32 all_columns;
  u32 run;             // elements of a tile's part of it
  u32 columns;         // of a tile
  u32 words;           // of the destination's memory that a tile's part of a run meets
  u32 chunks;          // of a tile's part of a run: a thread loads the elements of one at once
  u32 tables;          // where they begin in shared memory, behind the images
  Divider lanes;       // threads side by side that load a column each
  u32 rows;            // of such threads
  Divider stores;      // threads side by side that store along the run of one column
  u32 stored_columns;  // whose runs are stored at the same time
  Divider group;       // tiles that follow each other along the columns ...
  Divider run_tiles;   // ... before those of the next part of the runs
  Divider groups;
};

//@ used PaddedSpanTile
// Of a source that does not reach all of the destination.
struct PaddedSpanTile : SpanTile<1> {
  u32 first[most_digits];  // the indices of each digit that the source has
  u32 end[most_digits];
  double value;  // what the rest holds
};
//@ end

//@ if host
template <u32 sources>
struct SpanTileLayout : SpanTileLayout<sources - 1> {
  using Digit = SpanDigit<sources>;
  static_assert(sizeof(Digit) == 24 + 8 * sources && TMAJIT_OFFSET(Digit, source) == 8);
  static_assert(TMAJIT_OFFSET(Digit, count) == 8 + 8 * sources);
  using Tile = SpanTile<sources>;
  static_assert(TMAJIT_OFFSET(Tile, source) == 8 && TMAJIT_OFFSET(Tile, digit) == 8 + 16 * sources);
  static constexpr u32 numbers = TMAJIT_OFFSET(Tile, digit) + most_digits * sizeof(Digit);
  static_assert(TMAJIT_OFFSET(Tile, run_digits) == numbers && TMAJIT_OFFSET(Tile, words) == numbers + 28);
  static_assert(TMAJIT_OFFSET(Tile, lanes) == numbers + 40 && TMAJIT_OFFSET(Tile, rows) == numbers + 52);
  static_assert(TMAJIT_OFFSET(Tile, stores) == numbers + 56 && TMAJIT_OFFSET(Tile, group) == numbers + 72);
  static_assert(TMAJIT_OFFSET(Tile, groups) == numbers + 96 && sizeof(Tile) == numbers + 112 && alignof(Tile) == 8);
};
template <>
struct SpanTileLayout<0> {};
static_assert(sizeof(SpanTileLayout<8>) > 0);  // of all sources to 8
static_assert(sizeof(SpanSource) == 16 && TMAJIT_OFFSET(SpanSource, image) == 8);
static_assert(sizeof(PaddedSpanTile) == sizeof(SpanTile<1>) + 72 && alignof(PaddedSpanTile) == 8);
//@ end

}  // namespace tmajit::params
