// The launch parameters of cast_transpose: where the matrices are, and how CTAs share them.
#pragma once
#include "tmajit/divider.cuh"
#include "tmajit/reduction_team.cuh"

namespace tmajit::params {

constexpr u32 max_cast_digits = 8;

// A destination: its first element, and the bytes from one row or column of the source to the next.
struct CastTarget {
  Address<u8> first;
  i64 row;
  i64 column;
};

// A dimension of matrices.
struct CastDigit {
  i64 source;  // bytes from one index to the next
  i64 target[2];
  Divider count;  // number of indices
  u32 unused;
};

// A tile consists of blocks of `side` rows and columns, one for each thread. A warp has 8 x 4 of them: 8 neighbouring threads
// share rows. `warps_across` warps lie side by side.
struct CastPlan {
  Address<const u8> source;
  i64 row;  // bytes from one row of the source to the next
  i64 column;
  Address<const u8> scale;  // or the bits of the scale, if the launch passes it
  Address<u8> amax;
  CastTarget target[2];
  CastDigit digit[max_cast_digits];
  u64 rows;
  u64 columns;
  Divider column_tiles;
  Divider row_tiles;
  u32 warps_across;
  u32 digits;
  ReductionTeam team;  // of the greatest magnitude
};
//@ if host
static_assert(sizeof(CastTarget) == 24 && sizeof(CastDigit) == 40 && TMAJIT_OFFSET(CastDigit, count) == 24);
static_assert(TMAJIT_OFFSET(CastPlan, target) == 40 && TMAJIT_OFFSET(CastPlan, digit) == 88);
static_assert(TMAJIT_OFFSET(CastPlan, rows) == 88 + 40 * max_cast_digits && alignof(CastPlan) == 8);
static_assert(TMAJIT_OFFSET(CastPlan, column_tiles) == 104 + 40 * max_cast_digits);
static_assert(TMAJIT_OFFSET(CastPlan, team) == 136 + 40 * max_cast_digits && sizeof(CastPlan) == 176 + 40 * max_cast_digits);
//@ end

}  // namespace tmajit::params
