// What a reduction whose source the copy engine loads knows of its launch: which chunks of memory there are, what of them
// comes together, who does what.
#pragma once
#include "tmajit/reduction_plan.cuh"

namespace tmajit::params {

// Digits of a tile's own outputs, then of tiles, then of steps; those of tiles or of steps begin with the side that chunks cut.
constexpr u32 most_engine_digits = 10;

// A chunk lies in one piece: `side` indices of a dimension, of which the last chunk may have fewer, and all of the dimensions
// that lie nearer in memory. Its outputs are `near` side by side, then more of them `far` bytes on. What comes together in one
// of them is `outer` times `inner` elements.
struct EngineReductionPlan {
  Address<u8> destination;
  Address<const u8> source;
  u64 source_bytes;  // from the first to the last
  ReductionDigit<1> digit[most_engine_digits];
  i64 first_place;
  i64 inner_place;   // what one more of `inner` adds to an element's place
  i64 outer_place;
  u64 count;         // elements that come together
  ReductionTeam team;
  Divider near;      // outputs side by side in memory
  Divider tiles;
  u32 far;           // bytes
  u32 inner;         // elements; 0 for as many as the chunk's side has
  u32 inner_bytes;   // from one to the next
  u32 outer;         // likewise
  u32 outer_bytes;
  u32 side;          // indices
  u32 side_extent;   // of the whole dimension
  u32 side_bytes;    // of one index
  u32 side_outputs;  // of one index; 0 where the dimension is reduced
  u32 outputs;       // of a tile, there
  u32 own_digits;    // ends of the three kinds of digits
  u32 tile_digits;
  u32 digits;
  u32 steps;         // chunks of a tile
  u32 units;         // tiles, each as often as CTAs share it
  u32 slot_bytes;    // of a chunk in shared memory
};
//@ if host
static_assert(sizeof(EngineReductionPlan) == 24 + most_engine_digits * 48 + 32 + 40 + 24 + 64);
static_assert(TMAJIT_OFFSET(EngineReductionPlan, source) == 8 && TMAJIT_OFFSET(EngineReductionPlan, digit) == 24);
static_assert(TMAJIT_OFFSET(EngineReductionPlan, team) == 24 + most_engine_digits * 48 + 32);
static_assert(TMAJIT_OFFSET(EngineReductionPlan, far) == TMAJIT_OFFSET(EngineReductionPlan, team) + 64);
static_assert(alignof(EngineReductionPlan) == 8);
//@ end

}  // namespace tmajit::params
