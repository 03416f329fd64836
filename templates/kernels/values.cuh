// The bits of elements that are loaded and stored, and the values computed from them.
//@ # Facts of the kernel: Destination; where it computes from sources, Source<i>.
#pragma once
#include "tmajit/element.cuh"
#include "tmajit/raw.cuh"

namespace tmajit {

template <class Element, u32 n>
__device__ __forceinline__ Pack<Element, n> packed(const Raw<sizeof(Element), n>& raw) {
  if constexpr (sizeof(raw) == sizeof(Pack<Element, n>)) {
    return __builtin_bit_cast(Pack<Element, n>, raw);
  } else {
    Pack<Element, n> pack;
    pack.words[0] = static_cast<u16>(raw.word[0]);
    return pack;
  }
}

template <class Element, u32 n>
__device__ __forceinline__ Raw<sizeof(Element), n> raw(const Pack<Element, n>& pack) {
  if constexpr (sizeof(pack) == sizeof(Raw<sizeof(Element), n>)) {
    return __builtin_bit_cast(Raw<sizeof(Element), n>, pack);
  } else {
    return {{pack.words[0]}};
  }
}

// Values of `count` elements of each source.
template <u32 i, u32 n>
struct SourceValues {
  Value<typename Source<i>::Element> at[n];
};
template <u32 n, u32... i>
struct AllValues : SourceValues<i, n>... {};

// Converts a result, or a padding, to the destination's value type.
template <class T>
__device__ __forceinline__ Value<Destination::Element> result_of(T value) {
//@ if integer_result
  return convert<Value<Destination::Element>>(value);
//@ else
  return static_cast<Value<Destination::Element>>(value);
//@ end
}

// The bits of an element that is padding.
__device__ __forceinline__ auto padding_bits(double value) {
  const Value<Destination::Element> twice[2] = {result_of(value), result_of(value)};  // a pack has at least two elements
  Pack<Destination::Element, 2> pack;
  pack.encode(twice);
  return raw<Destination::Element, 2>(pack).get(0);
}

}  // namespace tmajit
