// What a kernel of spans knows of its launch: how both views' dimensions make up runs, columns and the rest, and its tile.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

constexpr u32 most_digits = 8;

// One step of taking a number apart: the index in a dimension.
struct SpanDigit {
  i64 destination;  // bytes from one index to the next
  i64 source;       // elements from one index to the next
  Divider count;    // indices
};

// Digits vary fastest first: those of a run's elements in the order of the destination's memory, those of the columns in the
// order of the source's, those of what neither has.
struct SpanTile {
  Address<u8> destination;
  Address<const u8> source;
  SpanDigit digit[most_digits];
  u32 run_digits;      // the first ones
  u32 column_digits;   // where those of columns end
  u32 digits;
  u32 run_elements;    // of a whole run
  u32 all_columns;
  u32 run;             // elements of a tile's part of it
  u32 columns;         // of a tile
  u32 words;           // of memory that a tile's part of a run meets
  u32 chunks;          // of a tile's part of a run: a thread loads the words of one at once
  u32 pitch;           // words from column to column of the image
  Divider lanes;       // threads side by side that load a column each
  u32 rows;            // of such threads
  Divider stores;      // threads side by side that store along the run of one column
  u32 stored_columns;  // whose runs are stored at the same time
  Divider group;       // tiles that follow each other along the columns ...
  Divider run_tiles;   // ... before those of the next part of the runs
  Divider groups;
};

//@ if host
static_assert(sizeof(SpanDigit) == 32 && TMAJIT_OFFSET(SpanDigit, source) == 8 && TMAJIT_OFFSET(SpanDigit, count) == 16);
static_assert(sizeof(SpanTile) == 384 && alignof(SpanTile) == 8 && TMAJIT_OFFSET(SpanTile, source) == 8);
static_assert(TMAJIT_OFFSET(SpanTile, digit) == 16 && TMAJIT_OFFSET(SpanTile, run_digits) == 272);
static_assert(TMAJIT_OFFSET(SpanTile, words) == 300 && TMAJIT_OFFSET(SpanTile, pitch) == 308);
static_assert(TMAJIT_OFFSET(SpanTile, lanes) == 312 && TMAJIT_OFFSET(SpanTile, rows) == 324);
static_assert(TMAJIT_OFFSET(SpanTile, stores) == 328 && TMAJIT_OFFSET(SpanTile, stored_columns) == 340);
static_assert(TMAJIT_OFFSET(SpanTile, group) == 344 && TMAJIT_OFFSET(SpanTile, run_tiles) == 356);
static_assert(TMAJIT_OFFSET(SpanTile, groups) == 368);
//@ end

}  // namespace tmajit::params
