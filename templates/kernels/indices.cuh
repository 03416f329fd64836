// Index tensors: the places that their elements select, and the division of a number into the indices of dimensions.
//@ # Facts of the kernel: rank, digits, indices, IndexElement, Range, Axes; of FlatAxes also Slot; of Asserted also Checked.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/indexed_plan.cuh"

namespace tmajit {

// Offsets of a vector in bytes, and those of its indices in the index tensors.
struct Place {
  i64 destination;
  i64 source;
  i64 index[indices];
};

__device__ __forceinline__ void advance(Place& place, const params::IndexedDigit<indices>& digit, i64 count) {
  place.destination += count * digit.destination;
  place.source += count * digit.source;
#pragma unroll
  for (u32 k = 0; k < indices; ++k) place.index[k] += count * digit.index[k];
}

// Returns the index of a digit's dimension; `number` becomes the number in the dimensions before it.
template <class Digit, class N>
__device__ __forceinline__ N take_index(const Digit& digit, N& number) {
  if constexpr (sizeof(N) == 4) {
    return take(digit.count, number);
  } else {
    const N whole = number;
    number = whole / digit.extent;
    return whole - number * digit.extent;
  }
}

// The offsets of the vector with this number; the last dimension of the vectors varies fastest.
template <class Plan, class N>
__device__ __forceinline__ Place vector_place(const Plan& plan, N number) {
  Place place{};
#pragma unroll
  for (u32 n = 0; n < rank; ++n) {
    const u32 d = rank - 1 - n;
    const N at = d > 0 ? take_index(plan.digit[d], number) : number;
    advance(place, plan.digit[d], static_cast<i64>(at));
  }
  return place;
}

// An index out of range is clamped to the nearest index of the dimension.
struct Clamped {
  static __device__ __forceinline__ i64 index(i64 i, i64 extent, bool&) { return i < 0 ? 0 : i < extent ? i : extent - 1; }
};
// An index out of range selects no element.
struct Skipped {
  static __device__ __forceinline__ i64 index(i64 i, i64 extent, bool& exists) {
    exists = exists && static_cast<u64>(i) < static_cast<u64>(extent);
    return i;
  }
};
// An index out of range stops the launch. It selects no element: the thread moves none before it stops.
struct Asserted {
  static __device__ __forceinline__ i64 index(i64 i, i64 extent, bool& exists) {
    const bool inside = static_cast<u64>(i) < static_cast<u64>(extent);
    if (exists && !inside) __assertfail("each index is in its dimension", "tmajit", 1, Checked::operation(), 1);
    exists = exists && inside;
    return i;
  }
};

// The index that an element of an index tensor selects; `exists` becomes false if it selects none.
__device__ __forceinline__ i64 selected_index(const params::IndexTensor& tensor, IndexElement given, bool& exists) {
  constexpr bool is_signed = static_cast<IndexElement>(-1) < static_cast<IndexElement>(0);
  constexpr i64 highest = static_cast<i64>(~u64(0) >> 1);
  // Unsigned numbers beyond all 64-bit signed ones are outside of every dimension.
  i64 i = sizeof(IndexElement) == 8 && !is_signed && static_cast<i64>(given) < 0 ? highest : static_cast<i64>(given);
  if constexpr (is_signed) i += i < 0 ? tensor.extent : 0;
  return Range::index(i, tensor.extent, exists);
}

// Each index tensor indexes a dimension.
struct OwnAxes {
  template <class Plan>
  static __device__ __forceinline__ i64 offset(const Plan& plan, u32 k, i64 index) {
    return index * plan.index[k].step;
  }
};
// One index tensor numbers the elements of several dimensions together. The digits after the first `rank` count them.
struct FlatAxes {
  template <class Plan>
  static __device__ __forceinline__ i64 offset(const Plan& plan, u32, i64 index) {
    Slot number = static_cast<Slot>(index);
    i64 offset = 0;
#pragma unroll
    for (u32 d = digits; d > rank; --d) {
      const Slot at = d - 1 > rank ? take_index(plan.digit[d - 1], number) : number;
      offset += static_cast<i64>(at) * plan.digit[d - 1].source;
    }
    return offset;
  }
};

}  // namespace tmajit
