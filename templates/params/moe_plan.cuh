// The launch parameters of a kernel that sorts the rows of tokens by expert. Steps are bytes from one index to the next.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

// A dimension of a row; the last one counts vectors.
struct MoeDigit {
  i64 rows;
  i64 x;
  Divider count;
  u32 unused;
};

// A tensor with an element for each (token, slot).
template <class Byte>
struct MoePairs {
  Address<Byte> first;
  i64 token;
  i64 slot;
};

// A tensor with an element for each expert.
struct MoeList {
  Address<u8> first;
  i64 step;
};

template <u32 rank>
struct MoePlan {
  Address<u8> rows;
  Address<const u8> x;
  i64 row_step;
  i64 token_step;
  MoePairs<const u8> experts;
  MoePairs<u8> positions;
  MoeList counts;
  MoeList offsets;
  MoeDigit digit[rank];
  Divider slots;         // of a token
  Divider alignment;     // the rows of each expert begin at a multiple of this number of rows
  Divider parts;         // CTAs that share the rows of a group of tokens
  Divider part_vectors;  // vectors of a row that a CTA moves
  u32 tokens;
  u32 expert_count;
  u32 capacity;      // rows of the destination
  u32 vectors;       // of a row
  u32 group_tokens;  // tokens of a group
  u32 round_tokens;  // tokens of a round
};

//@ if host
template <u32 rank>
struct MoePlanLayout : MoePlanLayout<rank - 1> {
  using Plan = MoePlan<rank>;
  static_assert(TMAJIT_OFFSET(Plan, experts) == 32 && TMAJIT_OFFSET(Plan, counts) == 80);
  static_assert(TMAJIT_OFFSET(Plan, digit) == 112 && TMAJIT_OFFSET(Plan, slots) == 112 + 32 * rank);
  static_assert(TMAJIT_OFFSET(Plan, tokens) == 160 + 32 * rank);
  static_assert(sizeof(Plan) == 184 + 32 * rank && alignof(Plan) == 8);
};
template <>
struct MoePlanLayout<0> {};
static_assert(sizeof(MoePlanLayout<7>) > 0);  // checks rows of 1 to 7 dimensions
static_assert(sizeof(MoeDigit) == 32 && TMAJIT_OFFSET(MoeDigit, count) == 16);
static_assert(sizeof(MoePairs<u8>) == 24 && sizeof(MoeList) == 16);
//@ end

}  // namespace tmajit::params
