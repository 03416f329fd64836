// The launch parameters of a kernel that moves elements by index tensors: addresses, and the divisors that split a vector's
// number into indices.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

// The last digit varies fastest. Steps are bytes from one index of a dimension to the next.
template <u32 indices>
struct IndexedDigit {
  i64 destination;
  i64 source;
  i64 index[indices];
  // The number of the dimension's indices, twice; `count` is valid only where all vectors' numbers are below 2^31.
  u64 extent;
  Divider count;
  u32 unused;
};

struct IndexTensor {
  Address<const u8> first;
  i64 extent;  // of the dimension that it indexes
  i64 step;    // bytes from one index of that dimension to the next
};

// An index tensor may number the elements of several dimensions together. Digits after those of the vectors then count these
// dimensions. Their `source` is the step in the tensor whose elements are selected.
template <u32 rank, u32 indices>
struct IndexedPlan {
  Address<u8> destination;
  Address<const u8> source;
  IndexTensor index[indices];
  IndexedDigit<indices> digit[rank];
  u64 vectors;
  double value;  // a gather stores it where an index selects no element
  u32 turns;     // vectors of a thread
  u32 unused;
};

// The parameters of a kernel that stores an expression of selected elements.
template <u32 rank, u32 indices>
struct ComputedPlan {
  Address<u8> destination;
  Address<const u8> source;
  IndexTensor index[indices];
  IndexedDigit<indices> digit[rank];
  u64 vectors;
  double value;  // it is stored where an index selects no element
  u32 turns;     // vectors of a thread
  u32 unused;
  Address<const u8> number[6];  // the bits of p0 …, at most: an operation has up to 8 sources
};

// The parameters of a kernel that adds in a fixed order. The first `line_digits` digits count the lines, which add to different
// elements. The remaining digits count the positions of a line, which are added one after the other.
template <u32 rank, u32 indices>
struct OrderedPlan {
  Address<u8> destination;
  Address<const u8> source;
  IndexTensor index[indices];
  IndexedDigit<indices> digit[rank];
  u64 lines;
  u64 positions;
  i64 part;  // indices of the first indexed dimension that a CTA adds to
  Divider parts;
  u32 line_digits;
};

// The parameters of a kernel that adds up selected elements. index[0] is the index tensor. Weights, if there are any, and offsets of
// bags, if these are ragged, follow it; only their addresses are used.
template <u32 rank, u32 indices>
struct GatheredSumPlan {
  Address<u8> destination;
  Address<const u8> source;
  IndexTensor index[indices];
  IndexedDigit<indices> digit[rank];
  u64 vectors;
  u64 terms;        // of each element's sum, or the indices of all bags if these are ragged
  i64 index_step;   // bytes from a term's index to the next one's
  i64 weight_step;  // bytes from a term's weight to the next one's
  i64 offset_step;  // bytes from a bag's offset to the next one's
};

//@ if host
template <u32 rank, u32 indices>
struct IndexedPlanLayout : IndexedPlanLayout<rank, indices - 1> {
  using Digit = IndexedDigit<indices>;
  static_assert(TMAJIT_OFFSET(Digit, extent) == 16 + 8 * indices && sizeof(Digit) == 40 + 8 * indices);
  using Plan = IndexedPlan<rank, indices>;
  static_assert(TMAJIT_OFFSET(Plan, index) == 16 && TMAJIT_OFFSET(Plan, digit) == 16 + 24 * indices);
  static_assert(TMAJIT_OFFSET(Plan, vectors) == 16 + 24 * indices + rank * sizeof(Digit));
  static_assert(sizeof(Plan) == TMAJIT_OFFSET(Plan, vectors) + 24 && alignof(Plan) == 8);
  using Computed = ComputedPlan<rank, indices>;
  static_assert(TMAJIT_OFFSET(Computed, vectors) == TMAJIT_OFFSET(Plan, vectors) && alignof(Computed) == 8);
  static_assert(TMAJIT_OFFSET(Computed, number) == sizeof(Plan) && sizeof(Computed) == sizeof(Plan) + 48);
  using Ordered = OrderedPlan<rank, indices>;
  static_assert(TMAJIT_OFFSET(Ordered, lines) == TMAJIT_OFFSET(Plan, vectors));
  static_assert(TMAJIT_OFFSET(Ordered, parts) == TMAJIT_OFFSET(Ordered, lines) + 24);
  using Summed = GatheredSumPlan<rank, indices>;
  static_assert(TMAJIT_OFFSET(Summed, vectors) == TMAJIT_OFFSET(Plan, vectors) && alignof(Summed) == 8);
  static_assert(sizeof(Summed) == TMAJIT_OFFSET(Summed, vectors) + 40);
  static_assert(sizeof(Ordered) == TMAJIT_OFFSET(Ordered, lines) + 40 && alignof(Ordered) == 8);
};
template <u32 rank>
struct IndexedPlanLayout<rank, 0> : IndexedPlanLayout<rank - 1, 7> {};
template <>
struct IndexedPlanLayout<0, 7> {};
static_assert(sizeof(IndexedPlanLayout<8, 7>) > 0);  // checks ranks 1 to 8 with 1 to 7 index tensors
static_assert(sizeof(IndexTensor) == 24 && TMAJIT_OFFSET(IndexTensor, step) == 16);
//@ end

}  // namespace tmajit::params
