// What becomes of a result of a reduction, and where it goes.
//@ # Facts of the kernel: Destination, behind().
#pragma once
#include "tmajit/values.cuh"

namespace tmajit {

template <class Reduced>
__device__ __forceinline__ void store_result(u8* to, const typename Reduced::State& state, u64 count) {
  const auto result = Reduced::result(state, count);
  const auto value = result_of(behind(result, static_cast<decltype(result)>(count)));
  const Value<Destination::Element> twice[2] = {value, value};
  Pack<Destination::Element, 2> pack;
  pack.encode(twice);
  *reinterpret_cast<Bits<sizeof(Destination::Element)>::Type*>(to) = raw<Destination::Element, 2>(pack).get(0);
}

}  // namespace tmajit
