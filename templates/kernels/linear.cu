// linear: computes or moves a contiguous destination, word by word, from sources with any strides.
//
//   source --element by element--> `turns` words of a thread, `threads` words apart --evaluate()--> destination
//
// The destination is one flat dimension. A thread divides the number of a word's first element into indices.
//@ # Facts of the kernel: rank, threads, turns, Offset, Plan, Reach, Words and those of loaded_word.cuh; if words have several lines,
//@ # those of word_lines.cuh instead.
#include "tmajit/line.cuh"
#include "tmajit/loaded_word.cuh"
#include "tmajit/word_lines.cuh"
#include "tmajit/word_places.cuh"
#include "tmajit/word_runs.cuh"

namespace tmajit {

template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Places& places) {
//@ if numbers
  input.bits = {};
  if (take_number(input, plan.source[i])) return;
//@ end
  const auto* source = reinterpret_cast<const SourceBits<i>*>(static_cast<const u8*>(plan.source[i]));
//@ if vectors
  load_words<word_bytes>(input.bits.word, reinterpret_cast<const u8*>(source + places.at[i][0]));
//@ else
  SourceBits<i> loaded[word_elements];
#pragma unroll
  for (u32 k = 0; k < word_elements; ++k) loaded[k] = places.reach[k].load(plan, source + places.at[i][k]);
  input.bits = {};
#pragma unroll
  for (u32 k = 0; k < word_elements; ++k) input.bits.set(k, loaded[k]);
//@ end
}

template <u32... i>
__device__ __forceinline__ void load_inputs(Inputs<i...>& inputs, const Plan& plan, const Places& places) {
  (load_input<i>(inputs, plan, places), ...);
}

template <u32... i>
__device__ __forceinline__ void move_words(Indices<i...>, const Plan& plan) {
  u8* const destination = plan.destination;
//@ if vectors
  constexpr i32 elements_before = 0;
//@ else
  // Elements of the first word that come before the destination.
  const i32 elements_before = static_cast<u32>(reinterpret_cast<u64>(destination)) % word_bytes / element_bytes;
//@ end
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
//@ if !vectors
    } else {
      auto* const to = reinterpret_cast<typename Word::Element*>(destination);
#pragma unroll
      for (u32 k = 0; k < word_elements; ++k) {
        const i32 element = min(max(begin, 0), last) + static_cast<i32>(k);
        if (element >= begin && element < begin + static_cast<i32>(word_elements)) to[element] = value.get(k);
      }
//@ end
    }
  }
}

__device__ __forceinline__ void move_line(const Plan& plan) {
  move_words(AllSources{}, plan);
}

}  // namespace tmajit
