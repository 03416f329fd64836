// The launch parameters of a scan: where rows and columns are, and how tiles share them.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

constexpr u32 max_scan_digits = 8;

// One step of splitting the number of a row, or of a vector of columns, into indices: one dimension.
template <u32 sources>
struct ScanDigit {
  // Bytes from one index to the next.
  i64 destination;
  i64 source[sources];
  // The number of indices, twice; `count` is valid only where all numbers are below 2^31.
  u64 extent;
  Divider count;
  u32 unused;
};

template <class Byte>
struct ScanOperand {
  Address<Byte> first;
  i64 along;   // bytes from one element of the scanned dimension to the next
  i64 across;  // bytes from one element of a vector to the next
};

constexpr u32 log2_ring_parts = 3;
constexpr u32 ring_parts = 1U << log2_ring_parts;  // parts of a ring; each counts the tiles that no longer use its slots
constexpr u32 ring_prologue = 128;                 // bytes of scratch memory before the slots: the counters of the parts

// Scratch memory of tiles that look back: rings of slots for tiles, units and blocks, 8 or 16 bytes a slot.
struct ScanRing {
  u64 first[3];    // bytes from the beginning of scratch memory
  u32 log2_tiles;  // slots of tiles, each for all columns of a tile
  u32 log2_unit;   // tiles of a unit, and units of a block
  u32 width;       // columns of a tile
  u32 waits;       // parts of the ring that must be done before a tile may reuse its slots
};

// The fastest varying digit comes first. A chain is a row, or the neighbouring columns of a tile.
template <u32 sources>
struct ScanPlan {
  ScanOperand<u8> destination;
  ScanOperand<const u8> source[sources];
  ScanDigit<sources> digit[max_scan_digits];
  u64 length;           // elements of the scanned dimension
  u64 columns;          // elements of the dimension that is divided into vectors of columns
  u64 lines;            // rows, or vectors of columns
  u64 parts;            // tiles of a row
  u32 digits;           // used entries of `digit`
  u32 chains;           // chains of tiles that look back
  u32 rows;             // rows of a tile
  u32 tiles;            // tiles of the launch
  Divider row;          // vectors of a row; elements of a row where tiles are dense
  Divider chain;        // number of chains, for tiles that look back
  Divider threads_across;  // threads side by side, each with a vector of columns
  u32 threads_along;    // threads that share a column
  u32 prefetch_distance;  // tiles between a tile and the one that it prefetches; 0: it does not prefetch
  ScanRing ring;
};

//@ if host
template <u32 sources>
struct ScanPlanLayout : ScanPlanLayout<sources - 1> {
  using Digit = ScanDigit<sources>;
  static_assert(sizeof(Digit) == 32 + 8 * sources && TMAJIT_OFFSET(Digit, source) == 8);
  static_assert(TMAJIT_OFFSET(Digit, count) == 16 + 8 * sources);
  using Plan = ScanPlan<sources>;
  static_assert(TMAJIT_OFFSET(Plan, source) == 24 && TMAJIT_OFFSET(Plan, digit) == 24 + 24 * sources);
  static constexpr u32 numbers = TMAJIT_OFFSET(Plan, digit) + max_scan_digits * sizeof(Digit);
  static_assert(TMAJIT_OFFSET(Plan, length) == numbers && TMAJIT_OFFSET(Plan, digits) == numbers + 32);
  static_assert(TMAJIT_OFFSET(Plan, row) == numbers + 48 && TMAJIT_OFFSET(Plan, threads_along) == numbers + 84);
  static_assert(TMAJIT_OFFSET(Plan, ring) == numbers + 96 && sizeof(Plan) == numbers + 136 && alignof(Plan) == 8);
};
template <>
struct ScanPlanLayout<0> {};
static_assert(sizeof(ScanPlanLayout<8>) > 0);  // checks 1 to 8 sources
static_assert(sizeof(ScanOperand<u8>) == 24 && TMAJIT_OFFSET(ScanOperand<u8>, along) == 8);
static_assert(sizeof(ScanRing) == 40 && TMAJIT_OFFSET(ScanRing, log2_tiles) == 24);
//@ end

}  // namespace tmajit::params
