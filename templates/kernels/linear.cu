//@ if computes
// linear: computes a destination whose elements follow each other in memory, word by word of it, from sources that lie anyhow.
//@ else
// linear: moves bits to a destination whose elements follow each other in memory, word by word of it.
//@ end
//
// All the destination's dimensions count as one. A thread takes `turns` words of it, `threads` words apart: it takes the
// number of each word's first element apart into indices, loads the elements of all its words one by one, and stores them.
//@ if wraps
//
// The last dimension is no shorter than a word: a word meets its end once at most, and goes on where it begins again.
//@ end
//@ # Facts of the kernel: rank, threads, turns, Offset and those of loaded_word.cuh.
#include "tmajit/division.cuh"
#include "tmajit/line.cuh"
#include "tmajit/loaded_word.cuh"

namespace tmajit {

//@ if padded
using Plan = params::PaddedLine<rank>;
//@ else
using Plan = params::Line<rank, sources>;
//@ end

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

// The elements of a word in each source.
struct Places {
  Offset at[sources][in_word];
//@ if padded
  bool exists[in_word];
//@ end
};

//@ if padded
__device__ __forceinline__ bool is_inside(const Plan& plan, u32 d, u32 index) {
  return index >= plan.first[d] && index < plan.end[d];
}

//@ end
//@ if short_rows
// Each element's number is taken apart by itself.
__device__ __forceinline__ Places places_of(const Plan& plan, u32 first) {
  Places places{};
#pragma unroll
  for (u32 k = 0; k < in_word; ++k) {
    const Index index = index_of(plan, first + k);
//@ if padded
    places.exists[k] = true;
//@ end
#pragma unroll
    for (u32 d = 0; d < rank; ++d) {
//@ if padded
      places.exists[k] &= is_inside(plan, d, index.at[d]);
//@ end
#pragma unroll
      for (u32 s = 0; s < sources; ++s) {
        places.at[s][k] += static_cast<Offset>(index.at[d]) * static_cast<Offset>(plan.digit[d].source[s]);
      }
    }
  }
  return places;
}
//@ else
__device__ __forceinline__ Places places_of(const Plan& plan, u32 first) {
  const Index index = index_of(plan, first);
  Offset begin[sources] = {};  // of the word
//@ if padded
  bool exists = true;  // in the dimensions before the last
//@ end
#pragma unroll
  for (u32 d = 0; d < rank; ++d) {
//@ if padded
    if (d != row) exists &= is_inside(plan, d, index.at[d]);
//@ end
#pragma unroll
    for (u32 s = 0; s < sources; ++s) {
      begin[s] += static_cast<Offset>(index.at[d]) * static_cast<Offset>(plan.digit[d].source[s]);
    }
  }
//@ if wraps

  // Behind the end of the last dimension, those before it count on.
  const u32 left = plan.digit[row].count.divisor - index.at[row];  // elements to that end
  Offset jump[sources];
#pragma unroll
  for (u32 s = 0; s < sources; ++s) {
    jump[s] = -static_cast<Offset>(plan.digit[row].count.divisor) * static_cast<Offset>(plan.digit[row].source[s]);
  }
  bool counts = true;
//@ if padded
  bool exists_behind = true;
//@ end
#pragma unroll
  for (u32 n = 1; n < rank; ++n) {
    const u32 d = row - n;
    const bool ends = d > 0 && index.at[d] + 1 == plan.digit[d].count.divisor;
    const u32 behind = !counts ? index.at[d] : ends ? 0 : index.at[d] + 1;
    const Offset change = static_cast<Offset>(behind) - static_cast<Offset>(index.at[d]);
#pragma unroll
    for (u32 s = 0; s < sources; ++s) jump[s] += change * static_cast<Offset>(plan.digit[d].source[s]);
//@ if padded
    exists_behind &= is_inside(plan, d, behind);
//@ end
    counts = counts && ends;
  }
//@ end

  Places places;
#pragma unroll
  for (u32 k = 0; k < in_word; ++k) {
//@ if wraps
    const bool is_behind = k >= left;
//@ end
#pragma unroll
    for (u32 s = 0; s < sources; ++s) {
      places.at[s][k] = begin[s] + static_cast<Offset>(k) * static_cast<Offset>(plan.digit[row].source[s]);
//@ if wraps
      if (is_behind) places.at[s][k] += jump[s];
//@ end
    }
//@ if padded
//@ if wraps
    places.exists[k] = is_behind ? exists_behind && is_inside(plan, row, k - left)
                                 : exists && is_inside(plan, row, index.at[row] + k);
//@ else
    places.exists[k] = exists && is_inside(plan, row, index.at[row] + k);
//@ end
//@ end
  }
  return places;
}
//@ end

template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Places& places) {
  const auto* source = reinterpret_cast<const SourceBits<i>*>(static_cast<const u8*>(plan.source[i]));
//@ if padded
  const SourceBits<i> padding = padding_bits(plan.value);
//@ end
  SourceBits<i> loaded[in_word];
#pragma unroll
  for (u32 k = 0; k < in_word; ++k) {
//@ if padded
    loaded[k] = places.exists[k] ? source[places.at[i][k]] : padding;
//@ else
    loaded[k] = source[places.at[i][k]];
//@ end
  }
  input.bits = {};
#pragma unroll
  for (u32 k = 0; k < in_word; ++k) input.bits.set(k, loaded[k]);
}

template <u32... i>
__device__ __forceinline__ void load_inputs(Inputs<i...>& inputs, const Plan& plan, const Places& places) {
  (load_input<i>(inputs, plan, places), ...);
}

template <u32... i>
__device__ __forceinline__ void move_words(Indices<i...>, const Plan& plan) {
  u8* const destination = plan.destination;
  const i32 past = static_cast<u32>(reinterpret_cast<u64>(destination)) % word_bytes / element_bytes;  // of the first word
  const i32 last = static_cast<i32>(plan.elements - in_word);  // where a whole word may begin
  const u32 word = blockIdx.x * (turns * threads) + threadIdx.x;
  Inputs<i...> inputs[turns];
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const i32 begin = static_cast<i32>((word + turn * threads) * in_word) - past;
    // Of a word that reaches beyond an end, those within are loaded that lie nearest.
    load_inputs(inputs[turn], plan, places_of(plan, static_cast<u32>(min(max(begin, 0), last))));
  }
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const i32 begin = static_cast<i32>((word + turn * threads) * in_word) - past;
    const Word value = word_of(inputs[turn]);
    if (begin >= 0 && begin <= last) {
      store_word(destination + static_cast<i64>(begin) * element_bytes, value);
    } else {
      auto* const to = reinterpret_cast<typename Word::Element*>(destination);
#pragma unroll
      for (u32 k = 0; k < in_word; ++k) {
        const i32 element = min(max(begin, 0), last) + static_cast<i32>(k);
        if (element >= begin && element < begin + static_cast<i32>(in_word)) to[element] = value.get(k);
      }
    }
  }
}

__device__ __forceinline__ void move_line(const Plan& plan) {
  move_words(AllSources{}, plan);
}

}  // namespace tmajit
