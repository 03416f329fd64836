// A destination and its sources as views of one shape.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

template <u32 rank>
struct View {
  Address<u8> first;      // the element with all indices 0
  Address<const u8> low;  // all bytes of the view are in [low, high)
  Address<const u8> high;
  i64 step[rank];  // bytes from one index to the next
};

// The parameters before the sources. Dimensions are in the order of the destination's steps, the largest first.
template <u32 rank>
struct ViewsHead {
  u64 extent[rank];
  Divider tiles[rank];
  View<rank> destination;
};

// The head and then the sources, with nothing between them.
template <u32 rank, u32 sources>
struct Views {
  ViewsHead<rank> head;
  View<rank> source[sources];
};

// The part of the destination that a source covers, and the value of all other elements.
template <u32 rank>
struct Window {
  i64 first[rank];  // destination index of the source's first element
  i64 end[rank];
  double value;
};

//@ if host
template <u32 rank>
struct ViewsLayout : ViewsLayout<rank - 1> {
  static_assert(sizeof(View<rank>) == 24 + 8 * rank && alignof(View<rank>) == 8);
  static_assert(TMAJIT_OFFSET(View<rank>, low) == 8 && TMAJIT_OFFSET(View<rank>, high) == 16);
  static_assert(TMAJIT_OFFSET(View<rank>, step) == 24);

  using Head = ViewsHead<rank>;
  static_assert(TMAJIT_OFFSET(Head, tiles) == 8 * rank);
  static_assert(TMAJIT_OFFSET(Head, destination) == 8 * rank + (12 * rank + 7) / 8 * 8);
  static_assert(sizeof(Head) == TMAJIT_OFFSET(Head, destination) + sizeof(View<rank>) && alignof(Head) == 8);

  using One = Views<rank, 1>;
  using Most = Views<rank, 8>;
  static_assert(TMAJIT_OFFSET(One, source) == sizeof(Head) && TMAJIT_OFFSET(Most, source) == sizeof(Head));
  static_assert(sizeof(One) == sizeof(Head) + sizeof(View<rank>));
  static_assert(sizeof(Most) == sizeof(Head) + 8 * sizeof(View<rank>));

  static_assert(sizeof(Window<rank>) == 16 * rank + 8 && alignof(Window<rank>) == 8);
  static_assert(TMAJIT_OFFSET(Window<rank>, end) == 8 * rank);
  static_assert(TMAJIT_OFFSET(Window<rank>, value) == 16 * rank);
};
template <>
struct ViewsLayout<0> {};
static_assert(sizeof(ViewsLayout<8>) > 0);  // checks ranks 1 to 8
//@ end

}  // namespace tmajit::params
