// Words of the destination, assembled from elements that were loaded one by one.
//@ # Facts of the kernel: word_elements, Destination, Source<i>, AllSources; if it computes, evaluate().
#pragma once
#include "tmajit/source_inputs.cuh"
#include "tmajit/values.cuh"

namespace tmajit {

constexpr u32 element_bytes = sizeof(Destination::Element);
constexpr u32 word_bytes = word_elements * element_bytes;
using Word = Raw<element_bytes, word_elements>;

//@ if computes
// Elements that are converted at once; a word of one element uses the first.
constexpr u32 at_once = word_elements < 2 ? 2 : word_elements;

template <u32... i>
__device__ __forceinline__ Word word_of(const SourceInputs<at_once, i...>& inputs) {
  AllValues<at_once, i...> values;
  (to_pack<typename Source<i>::Element, at_once>(static_cast<const SourceInput<i, at_once>&>(inputs).bits)
       .decode(static_cast<SourceValues<i, at_once>&>(values).at),
   ...);
  Value<Destination::Element> out[at_once] = {};
#pragma unroll
  for (u32 k = 0; k < word_elements; ++k) out[k] = result_of(evaluate(static_cast<SourceValues<i, at_once>&>(values).at[k]...));
  Pack<Destination::Element, at_once> pack;
  pack.encode(out);
  const auto all = to_raw<Destination::Element, at_once>(pack);
  Word word;
#pragma unroll
  for (u32 w = 0; w < word.words; ++w) word.word[w] = all.word[w];
  return word;
}
//@ else
constexpr u32 at_once = word_elements;  // elements

__device__ __forceinline__ const Word& word_of(const SourceInputs<at_once, 0>& inputs) {
  return inputs.bits;
}
//@ end

// The elements of a word from one source.
template <u32 i>
using Input = SourceInput<i, at_once>;
template <u32... i>
using Inputs = SourceInputs<at_once, i...>;

__device__ __forceinline__ void store_word(u8* to, const Word& value) {
  if constexpr (word_bytes == 16) {
    store16(to, {{value.word[0], value.word[1], value.word[2], value.word[3]}});
  } else if constexpr (word_bytes == 8) {
    *reinterpret_cast<u64*>(to) = static_cast<u64>(value.word[1]) << 32 | value.word[0];
  } else {
    *reinterpret_cast<u32*>(to) = value.word[0];
  }
}

}  // namespace tmajit
