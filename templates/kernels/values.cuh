// Conversions between the bits of elements, as threads load and store them (Raw), and the values that kernels compute with
// (Value). Pack converts between the two.
//@ # Facts of the kernel: Destination; if the kernel computes from sources, also Source<i>.
#pragma once
#include "tmajit/element.cuh"
#include "tmajit/raw.cuh"
//@ if fast_exp
#include "tmajit/fast_exp.cuh"
//@ end

namespace tmajit {

// A Raw consists of words of 32 bits. A Pack of two elements of one byte has 16 bits, so it is smaller than their Raw.

template <class Element, u32 count>
__device__ __forceinline__ Pack<Element, count> to_pack(const Raw<sizeof(Element), count>& raw) {
  if constexpr (sizeof(raw) == sizeof(Pack<Element, count>)) {
    return __builtin_bit_cast(Pack<Element, count>, raw);
  } else {
    Pack<Element, count> pack;
    pack.words[0] = static_cast<u16>(raw.word[0]);
    return pack;
  }
}

template <class Element, u32 count>
__device__ __forceinline__ Raw<sizeof(Element), count> to_raw(const Pack<Element, count>& pack) {
  if constexpr (sizeof(pack) == sizeof(Raw<sizeof(Element), count>)) {
    return __builtin_bit_cast(Raw<sizeof(Element), count>, pack);
  } else {
    return {{pack.words[0]}};
  }
}

// The values of `count` elements of source i.
template <u32 i, u32 count>
struct SourceValues {
  Value<typename Source<i>::Element> at[count];
};
// The values of `count` elements of each source.
template <u32 count, u32... i>
struct AllValues : SourceValues<i, count>... {};

// Converts an expression's result, or the value of padding, to the destination's value type. To an integer type
// (integer_result), floating-point values saturate.
template <class T>
__device__ __forceinline__ Value<Destination::Element> result_of(T value) {
//@ if integer_result
  return convert<Value<Destination::Element>>(value);
//@ else
  return static_cast<Value<Destination::Element>>(value);
//@ end
}

// The bits of an element of the destination that is padded with this value.
__device__ __forceinline__ auto padding_bits(double value) {
  const Value<Destination::Element> values[2] = {result_of(value), result_of(value)};  // a pack has at least two elements
  Pack<Destination::Element, 2> pack;
  pack.encode(values);
  return to_raw<Destination::Element, 2>(pack).get(0);
}

// The value of a number that the launch passes in place of a source's address.
template <class Element>
__device__ __forceinline__ Value<Element> value_of_number(const u8* in_place_of_address) {
  Raw<sizeof(Element), 2> bits = {};  // a pack has at least two elements
  bits.set(0, static_cast<typename Bits<sizeof(Element)>::Type>(reinterpret_cast<u64>(in_place_of_address)));
  Value<Element> values[2];
  to_pack<Element, 2>(bits).decode(values);
  return values[0];
}

}  // namespace tmajit
