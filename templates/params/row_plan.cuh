// The launch parameters of rowwise: where rows and their elements are, and how threads share them.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

constexpr u32 max_row_digits = 8;
// Scratch memory of CTAs that share a row: a counter of 4 bytes for each group of CTAs, then slots of states.
constexpr u32 row_counter_bytes = 4096;
constexpr u32 row_slot_bytes = 64;

// One dimension of the rows' numbers, or of the elements' numbers within a row.
template <u32 operands>
struct RowDigit {
  i64 step[operands];  // bytes from one index to the next
  u64 extent;          // number of indices
  Divider count;       // number of indices; valid only where all numbers are below 2^31
  i32 place;           // added per index to an element's index in the row
};

// The bytes of an operand, relative to its first element. A vector at the offset `at` may be loaded whole if at - low <= span, as
// unsigned numbers.
struct RowReach {
  i64 low;
  u64 span;
};

// Operand 0 is the first destination; the sources and the other destinations follow. The digits of the rows' numbers come
// first, then those of the elements' numbers; in each, the fastest varying first.
template <u32 operands>
struct RowPlan {
  Address<u8> first[operands];  // the first element of the first row
  i64 step[operands];           // bytes from one element of a row to the next
  RowReach reach[operands];
  RowDigit<operands> digit[max_row_digits];
  u64 rows;
  u32 length;      // elements of a row
  u32 row_digits;
  u32 digits;      // all digits
  u32 threads;     // threads of a CTA that share a row
  u32 part;        // vectors of a row that a CTA holds in shared memory, or 0
  i32 first_place;  // the first element's index in the user's row
  i32 place_step;   // from one element to the next, if a row has one dimension
  u32 group;  // CTAs of the grid that share a row, or 0
  u32 turns;  // if lanes share a row: the turns that a row needs, at most those of the kernel
};

//@ if host
template <u32 operands>
struct RowPlanLayout : RowPlanLayout<operands - 1> {
  using Digit = RowDigit<operands>;
  static_assert(sizeof(Digit) == 24 + 8 * operands && TMAJIT_OFFSET(Digit, count) == 8 + 8 * operands);
  using Plan = RowPlan<operands>;
  static constexpr u32 numbers = 32 * operands + max_row_digits * sizeof(Digit);
  static_assert(TMAJIT_OFFSET(Plan, step) == 8 * operands && TMAJIT_OFFSET(Plan, reach) == 16 * operands);
  static_assert(TMAJIT_OFFSET(Plan, digit) == 32 * operands);
  static_assert(TMAJIT_OFFSET(Plan, rows) == numbers && TMAJIT_OFFSET(Plan, length) == numbers + 8);
  static_assert(TMAJIT_OFFSET(Plan, threads) == numbers + 20 && sizeof(Plan) == numbers + 48 && alignof(Plan) == 8);
};
template <>
struct RowPlanLayout<0> {};
static_assert(sizeof(RowPlanLayout<16>) > 0);  // checks 1 to 16 operands
//@ end

}  // namespace tmajit::params
