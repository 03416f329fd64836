// The launch parameters of a reduction: its reduced dimensions and those of its results, and how threads and CTAs share them.
#pragma once
#include "tmajit/reduction_team.cuh"

namespace tmajit::params {

constexpr u32 max_reduction_digits = 8;

// One step of splitting a number into indices: one dimension. The index counts vectors in the dimension that is cut into
// vectors, and elements in all others.
template <u32 sources>
struct ReductionDigit {
  i64 destination;      // bytes from one index to the next
  i64 source[sources];  // bytes from one index to the next
  i64 place;            // added per index to an element's place: its number among the reduced elements
  u64 extent;           // number of indices
  Divider count;        // number of indices, where all numbers are below 2^31
  u32 unused;
};

struct ReductionSource {
  Address<const u8> first;
  i64 step;  // bytes from one element of a vector to the next
};

// Digits of the reduced dimensions come first, then those of the results; in each, the fastest varying first. An item is
// what a thread processes at a time: a vector, or an element. A result item is a vector or an element of the destination.
template <u32 sources>
struct ReductionPlan {
  Address<u8> destination;
  ReductionSource source[sources];
  ReductionDigit<sources> digit[max_reduction_digits];
  i64 first_place;
  i64 place_step;        // from one element of a vector to the next
  i64 destination_step;  // bytes from one element of a vector to the next
  u64 along;             // elements of the dimension that is cut into vectors
  u64 result_items;
  u64 reduced;           // items reduced to one result
  u64 count;             // elements reduced to one result
  ReductionTeam team;
  Divider inner_ctas;    // tiles if neighbouring CTAs take neighbouring tiles, else the CTAs that share a tile
  u32 reduced_digits;    // digits of the reduced dimensions
  u32 digits;            // all digits
  u32 unused;
};

//@ if host
template <u32 sources>
struct ReductionPlanLayout : ReductionPlanLayout<sources - 1> {
  using Digit = ReductionDigit<sources>;
  static_assert(sizeof(Digit) == 40 + 8 * sources && TMAJIT_OFFSET(Digit, source) == 8);
  static_assert(TMAJIT_OFFSET(Digit, place) == 8 + 8 * sources && TMAJIT_OFFSET(Digit, count) == 24 + 8 * sources);
  using Plan = ReductionPlan<sources>;
  static_assert(TMAJIT_OFFSET(Plan, source) == 8 && TMAJIT_OFFSET(Plan, digit) == 8 + 16 * sources);
  static constexpr u32 numbers = TMAJIT_OFFSET(Plan, digit) + max_reduction_digits * sizeof(Digit);
  static_assert(TMAJIT_OFFSET(Plan, first_place) == numbers && TMAJIT_OFFSET(Plan, count) == numbers + 48);
  static_assert(TMAJIT_OFFSET(Plan, team) == numbers + 56 && TMAJIT_OFFSET(Plan, inner_ctas) == numbers + 96);
  static_assert(TMAJIT_OFFSET(Plan, reduced_digits) == numbers + 108 && sizeof(Plan) == numbers + 120 && alignof(Plan) == 8);
};
template <>
struct ReductionPlanLayout<0> {};
static_assert(sizeof(ReductionPlanLayout<8>) > 0);  // checks 1 to 8 sources
static_assert(sizeof(ReductionSource) == 16 && TMAJIT_OFFSET(ReductionSource, step) == 8);
//@ end

}  // namespace tmajit::params
