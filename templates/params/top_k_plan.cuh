// The launch parameters of a kernel that takes the first k elements of each row. Steps are bytes from one index to the next.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

// A dimension that counts rows.
struct TopKDigit {
  i64 x;
  i64 values;
  i64 index;
  Divider count;
  u32 unused;
};

template <u32 rank>
struct TopKPlan {
  Address<const u8> x;
  Address<u8> values;
  Address<u8> index;
  i64 x_step;  // along a row
  i64 values_step;
  i64 index_step;
  TopKDigit digit[rank];
  u32 rows;
  u32 length;        // elements of a row
  u32 count;         // k
  u32 enough;        // the most elements that are sorted to find the k results; at least k
  u32 place_digits;  // bytes of the greatest place in a row
  u32 unused;
};

//@ if host
template <u32 rank>
struct TopKPlanLayout : TopKPlanLayout<rank - 1> {
  using Plan = TopKPlan<rank>;
  static_assert(TMAJIT_OFFSET(Plan, x_step) == 24 && TMAJIT_OFFSET(Plan, digit) == 48);
  static_assert(TMAJIT_OFFSET(Plan, rows) == 48 + 40 * rank && TMAJIT_OFFSET(Plan, place_digits) == 64 + 40 * rank);
  static_assert(sizeof(Plan) == 72 + 40 * rank && alignof(Plan) == 8);
};
template <>
struct TopKPlanLayout<0> {};
static_assert(sizeof(TopKPlanLayout<7>) > 0);  // checks 1 to 7 dimensions that count rows
static_assert(sizeof(TopKDigit) == 40 && TMAJIT_OFFSET(TopKDigit, count) == 24);
//@ end

}  // namespace tmajit::params
