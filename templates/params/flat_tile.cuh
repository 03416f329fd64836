// The launch parameters of a flat kernel: how two flat indices become offsets in each tensor, and the tile of a CTA.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

constexpr u32 max_digits = 8;

// One dimension: a step of dividing a flat index.
template <u32 sources>
struct FlatDigit {
  i64 destination_stride;  // in elements, as all strides
  i64 source_stride[sources];
  Divider extent;
  u32 first;  // a padded source has the indices [first, end)
  u32 end;
};

struct FlatSource {
  Address<const u8> first;  // the element with all indices 0
  u32 image;        // byte offset of the source's image in shared memory
  u32 pitch;        // words from row to row of the image
  Divider y_lanes;  // threads that load neighbouring elements along y
  u32 groups;       // groups of x that the CTA loads at once
  Divider x_lanes;  // groups along x that neighbouring threads load, before the next along y
  u32 unused;
};

// The digits of x come first, then those of y; each list begins with the dimension that varies fastest.
template <u32 sources>
struct FlatTile {
  Address<u8> destination;
  FlatSource source[sources];
  FlatDigit<sources> digit[max_digits];
  double padding;   // the value of elements outside a padded source
  u32 x_digits;     // number of digits of x
  u32 digits;       // number of all digits
  u32 x_extent;     // elements of the whole problem along x
  u32 y_extent;     // and along y
  u32 x;            // elements of a tile along x
  u32 y;            // and along y
  u32 tables;       // byte offset of the tables of offsets in shared memory
  u32 words;        // words that a tile stores along x
  u32 word_rows;    // teams of `word_lanes` threads; each stores a row
  Divider word_lanes;
  Divider consecutive_y_tiles;  // tiles along y that consecutive CTAs take before the next along x
  Divider x_tiles;  // tiles along x
};

//@ if host
template <u32 sources>
struct FlatTileLayout : FlatTileLayout<sources - 1> {
  using Digit = FlatDigit<sources>;
  static_assert(sizeof(Digit) == 32 + 8 * sources && TMAJIT_OFFSET(Digit, source_stride) == 8);
  static_assert(TMAJIT_OFFSET(Digit, extent) == 8 + 8 * sources && TMAJIT_OFFSET(Digit, first) == 20 + 8 * sources);
  using Tile = FlatTile<sources>;
  static constexpr u32 numbers = 8 + sources * sizeof(FlatSource) + max_digits * sizeof(Digit);
  static_assert(TMAJIT_OFFSET(Tile, source) == 8 && TMAJIT_OFFSET(Tile, digit) == 8 + sources * sizeof(FlatSource));
  static_assert(TMAJIT_OFFSET(Tile, padding) == numbers && TMAJIT_OFFSET(Tile, x_digits) == numbers + 8);
  static_assert(TMAJIT_OFFSET(Tile, words) == numbers + 36 && TMAJIT_OFFSET(Tile, x_tiles) == numbers + 68);
  static_assert(sizeof(Tile) == numbers + 80 && alignof(Tile) == 8);
};
template <>
struct FlatTileLayout<0> {};
static_assert(sizeof(FlatTileLayout<8>) > 0);  // checks 1 to 8 sources
static_assert(sizeof(FlatSource) == 48 && TMAJIT_OFFSET(FlatSource, y_lanes) == 16);
static_assert(TMAJIT_OFFSET(FlatSource, groups) == 28 && TMAJIT_OFFSET(FlatSource, x_lanes) == 32);
//@ end

}  // namespace tmajit::params
