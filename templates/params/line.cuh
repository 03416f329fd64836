// The launch parameters of a kernel of lines: a destination or a source whose elements are contiguous in memory, and the divisors that
// split an element's number into the indices of the other tensors.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

template <u32 sources>
struct LineDigit {
  i64 stride[sources];  // elements from one index to the next in each other tensor
  Divider count;        // number of indices
};

// Digits are in the order of the contiguous tensor's memory: the last varies fastest.
template <u32 rank, u32 sources>
struct Line {
  Address<u8> destination;
  Address<const u8> source[sources];
  LineDigit<sources> digit[rank];
  u32 elements;
};

// The parameters of a source that does not cover the whole destination.
template <u32 rank>
struct PaddedLine : Line<rank, 1> {
  u32 first[rank];  // the source has the indices [first, end) of each dimension
  u32 end[rank];
  double value;  // the value of all other elements
};

//@ if host
template <u32 rank, u32 sources>
struct LineLayout : LineLayout<rank, sources - 1> {
  using Digit = LineDigit<sources>;
  static_assert(sizeof(Digit) == 16 + 8 * sources && TMAJIT_OFFSET(Digit, count) == 8 * sources);
  using One = Line<rank, sources>;
  static_assert(TMAJIT_OFFSET(One, source) == 8 && TMAJIT_OFFSET(One, digit) == 8 + 8 * sources);
  static_assert(TMAJIT_OFFSET(One, elements) == TMAJIT_OFFSET(One, digit) + rank * sizeof(Digit));
  static_assert(sizeof(One) == TMAJIT_OFFSET(One, elements) + 8 && alignof(One) == 8);
};
template <u32 rank>
struct LineLayout<rank, 0> : LineLayout<rank - 1, 8> {};
template <>
struct LineLayout<0, 8> {};
static_assert(sizeof(LineLayout<8, 8>) > 0);  // checks ranks 1 to 8 with 1 to 8 sources
//@ end

}  // namespace tmajit::params
