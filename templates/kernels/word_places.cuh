// Where the words of a tensor that is one flat dimension are in other tensors.
//@ # Facts of the kernel: rank, Offset, Plan, Reach, sources, word_elements; `lines`, if words have several.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/line.cuh"
#include "tmajit/source_inputs.cuh"

namespace tmajit {

//@ if lines
constexpr u32 row = rank - 2;  // the dimension of columns
//@ else
constexpr u32 row = rank - 1;  // the last dimension
constexpr u32 columns = word_elements;  // of a word
//@ end

struct Index {
  u32 at[rank];
};

__device__ __forceinline__ Index index_of(const Plan& plan, u32 n) {
  Index index;
#pragma unroll
  for (u32 d = row; d > 0; --d) index.at[d] = take(plan.digit[d].count, n);
  index.at[0] = n;
  return index;
}

// The source has all elements of the destination.
struct Everywhere {
  __device__ __forceinline__ Everywhere within(const Plan&, u32, u32) const { return *this; }
  template <class Element>
  __device__ __forceinline__ Element load(const Plan&, const Element* from) const { return *from; }
};
// The source has only the elements in a window; all others are padding.
struct InWindow {
  bool exists = true;

  __device__ __forceinline__ InWindow within(const Plan& plan, u32 d, u32 index) const {
    const bool inside = index >= plan.first[d] && index < plan.end[d];
    return {static_cast<bool>(exists & inside)};
  }
  template <class Element>
  __device__ __forceinline__ Element load(const Plan& plan, const Element* from) const {
    const Element padding = padding_bits(plan.value);
    return exists ? *from : padding;
  }
};

// Where the columns of a word are in each other tensor, and whether it has them.
struct Places {
  Offset at[sources][columns];
  Reach reach[columns];
};

// Rows are shorter than a word: the number of each column is divided into indices separately.
struct ShortRows {
  static __device__ __forceinline__ Places places(const Plan& plan, u32 first) {
    Places places{};
#pragma unroll
    for (u32 k = 0; k < columns; ++k) {
      const Index index = index_of(plan, first + k);
#pragma unroll
      for (u32 d = 0; d <= row; ++d) {
        places.reach[k] = places.reach[k].within(plan, d, index.at[d]);
#pragma unroll
        for (u32 s = 0; s < sources; ++s) {
          places.at[s][k] += static_cast<Offset>(index.at[d]) * static_cast<Offset>(plan.digit[d].stride[s]);
        }
      }
    }
    return places;
  }
};

// A word that crosses the end of a row, at most once: its later columns have the next outer index.
struct Wrap {
  u32 left;  // columns before the end
  Offset jump[sources];  // added to the offsets of columns after the end
  Reach reach;  // whether sources have the columns after the end, judged by the outer dimensions

  __device__ __forceinline__ Wrap(const Plan& plan, const Index& index) : left(plan.digit[row].count.divisor - index.at[row]), reach{} {
#pragma unroll
    for (u32 s = 0; s < sources; ++s) {
      jump[s] = -static_cast<Offset>(plan.digit[row].count.divisor) * static_cast<Offset>(plan.digit[row].stride[s]);
    }
    bool carry = true;
#pragma unroll
    for (u32 n = 1; n <= row; ++n) {
      const u32 d = row - n;
      const bool ends = d > 0 && index.at[d] + 1 == plan.digit[d].count.divisor;
      const u32 next = !carry ? index.at[d] : ends ? 0 : index.at[d] + 1;
      const Offset change = static_cast<Offset>(next) - static_cast<Offset>(index.at[d]);
#pragma unroll
      for (u32 s = 0; s < sources; ++s) jump[s] += change * static_cast<Offset>(plan.digit[d].stride[s]);
      reach = reach.within(plan, d, next);
      carry = carry && ends;
    }
  }
};

// Columns of a word are neighbours in a row.
struct Rows {
  static __device__ __forceinline__ Places places(const Plan& plan, u32 first) {
    const Index index = index_of(plan, first);
    Offset begin[sources] = {};  // of the word
    Reach reach{};               // judged by the outer dimensions
#pragma unroll
    for (u32 d = 0; d <= row; ++d) {
      if (d != row) reach = reach.within(plan, d, index.at[d]);
#pragma unroll
      for (u32 s = 0; s < sources; ++s) {
        begin[s] += static_cast<Offset>(index.at[d]) * static_cast<Offset>(plan.digit[d].stride[s]);
      }
    }
//@ if wraps
    const Wrap wrap(plan, index);
//@ end
    Places places;
#pragma unroll
    for (u32 k = 0; k < columns; ++k) {
#pragma unroll
      for (u32 s = 0; s < sources; ++s) {
        places.at[s][k] = begin[s] + static_cast<Offset>(k) * static_cast<Offset>(plan.digit[row].stride[s]);
      }
      places.reach[k] = reach.within(plan, row, index.at[row] + k);
//@ if wraps
      if (k < wrap.left) continue;
#pragma unroll
      for (u32 s = 0; s < sources; ++s) places.at[s][k] += wrap.jump[s];
      places.reach[k] = wrap.reach.within(plan, row, k - wrap.left);
//@ end
    }
    return places;
  }
};

}  // namespace tmajit
