// linear: computes or moves a contiguous destination, word by word, from sources with any strides.
//
//   source --element by element--> `turns` words of a thread, `threads` words apart --evaluate()--> destination
//
// The destination is one flat dimension. A thread divides the number of a word's first element into indices.
//@ # Facts of the kernel: rank, threads, turns, Offset, Plan, Reach, Words and those of loaded_word.cuh.
#include "tmajit/division.cuh"
#include "tmajit/line.cuh"
#include "tmajit/loaded_word.cuh"

namespace tmajit {

constexpr u32 row = rank - 1;  // the last dimension

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

// Where the elements of a word are in each source, and whether the source has them.
struct Places {
  Offset at[sources][word_elements];
  Reach reach[word_elements];
};

// The last dimension is shorter than a word: the number of each element is divided into indices separately.
struct ShortRows {
  static __device__ __forceinline__ Places places(const Plan& plan, u32 first) {
    Places places{};
#pragma unroll
    for (u32 k = 0; k < word_elements; ++k) {
      const Index index = index_of(plan, first + k);
#pragma unroll
      for (u32 d = 0; d < rank; ++d) {
        places.reach[k] = places.reach[k].within(plan, d, index.at[d]);
#pragma unroll
        for (u32 s = 0; s < sources; ++s) {
          places.at[s][k] += static_cast<Offset>(index.at[d]) * static_cast<Offset>(plan.digit[d].source[s]);
        }
      }
    }
    return places;
  }
};

// A word that crosses the end of the last dimension, at most once: its later elements have the next outer index.
struct Wrap {
  u32 left;  // elements before the end
  Offset jump[sources];  // added to the offsets of elements after the end
  Reach reach;  // whether sources have the elements after the end, judged by the outer dimensions

  __device__ __forceinline__ Wrap(const Plan& plan, const Index& index) : left(plan.digit[row].count.divisor - index.at[row]), reach{} {
#pragma unroll
    for (u32 s = 0; s < sources; ++s) {
      jump[s] = -static_cast<Offset>(plan.digit[row].count.divisor) * static_cast<Offset>(plan.digit[row].source[s]);
    }
    bool carry = true;
#pragma unroll
    for (u32 n = 1; n < rank; ++n) {
      const u32 d = row - n;
      const bool ends = d > 0 && index.at[d] + 1 == plan.digit[d].count.divisor;
      const u32 next = !carry ? index.at[d] : ends ? 0 : index.at[d] + 1;
      const Offset change = static_cast<Offset>(next) - static_cast<Offset>(index.at[d]);
#pragma unroll
      for (u32 s = 0; s < sources; ++s) jump[s] += change * static_cast<Offset>(plan.digit[d].source[s]);
      reach = reach.within(plan, d, next);
      carry = carry && ends;
    }
  }
};

// Elements of a word are neighbours in the last dimension.
struct Rows {
  static __device__ __forceinline__ Places places(const Plan& plan, u32 first) {
    const Index index = index_of(plan, first);
    Offset begin[sources] = {};  // of the word
    Reach reach{};               // judged by the outer dimensions
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
      if (d != row) reach = reach.within(plan, d, index.at[d]);
#pragma unroll
      for (u32 s = 0; s < sources; ++s) {
        begin[s] += static_cast<Offset>(index.at[d]) * static_cast<Offset>(plan.digit[d].source[s]);
      }
    }
//@ if wraps
    const Wrap wrap(plan, index);
//@ end
    Places places;
#pragma unroll
    for (u32 k = 0; k < word_elements; ++k) {
#pragma unroll
      for (u32 s = 0; s < sources; ++s) {
        places.at[s][k] = begin[s] + static_cast<Offset>(k) * static_cast<Offset>(plan.digit[row].source[s]);
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

template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Places& places) {
//@ if numbers
  input.bits = {};
  if (take_number(input, plan.source[i])) return;
//@ end
  const auto* source = reinterpret_cast<const SourceBits<i>*>(static_cast<const u8*>(plan.source[i]));
  SourceBits<i> loaded[word_elements];
#pragma unroll
  for (u32 k = 0; k < word_elements; ++k) loaded[k] = places.reach[k].load(plan, source + places.at[i][k]);
  input.bits = {};
#pragma unroll
  for (u32 k = 0; k < word_elements; ++k) input.bits.set(k, loaded[k]);
}

template <u32... i>
__device__ __forceinline__ void load_inputs(Inputs<i...>& inputs, const Plan& plan, const Places& places) {
  (load_input<i>(inputs, plan, places), ...);
}

template <u32... i>
__device__ __forceinline__ void move_words(Indices<i...>, const Plan& plan) {
  u8* const destination = plan.destination;
  // Elements of the first word that come before the destination.
  const i32 elements_before = static_cast<u32>(reinterpret_cast<u64>(destination)) % word_bytes / element_bytes;
  const i32 last = static_cast<i32>(plan.elements - word_elements);  // the last element that begins a whole word
  const u32 word = blockIdx.x * (turns * threads) + threadIdx.x;
  Inputs<i...> inputs[turns];
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const i32 begin = static_cast<i32>((word + turn * threads) * word_elements) - elements_before;
    // A word that extends beyond the first or last element loads the nearest whole word inside.
    load_inputs(inputs[turn], plan, Words::places(plan, static_cast<u32>(min(max(begin, 0), last))));
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const i32 begin = static_cast<i32>((word + turn * threads) * word_elements) - elements_before;
    const Word value = word_of(inputs[turn]);
    if (begin >= 0 && begin <= last) {
      store_word(destination + static_cast<i64>(begin) * element_bytes, value);
    } else {
      auto* const to = reinterpret_cast<typename Word::Element*>(destination);
#pragma unroll
      for (u32 k = 0; k < word_elements; ++k) {
        const i32 element = min(max(begin, 0), last) + static_cast<i32>(k);
        if (element >= begin && element < begin + static_cast<i32>(word_elements)) to[element] = value.get(k);
      }
    }
  }
}

__device__ __forceinline__ void move_line(const Plan& plan) {
  move_words(AllSources{}, plan);
}

}  // namespace tmajit
