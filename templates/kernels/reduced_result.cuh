// Applies the user's final expression to a reduction's result, and stores it.
//@ # Facts of the kernel: Destination, final_result().
#pragma once
#include "tmajit/values.cuh"

namespace tmajit {

// `numbers` are those of the launch, if the epilogue reads them.
template <class Reduced, class... Numbers>
__device__ __forceinline__ void store_result(u8* to, const typename Reduced::State& state, u64 count, Numbers... numbers) {
  const auto result = Reduced::result(state, count);
  const auto value = result_of(final_result(result, static_cast<decltype(result)>(count), numbers...));
  const Value<Destination::Element> twice[2] = {value, value};  // a pack has at least two elements
  Pack<Destination::Element, 2> pack;
  pack.encode(twice);
  *reinterpret_cast<Bits<sizeof(Destination::Element)>::Type*>(to) = to_raw<Destination::Element, 2>(pack).get(0);
}

}  // namespace tmajit
