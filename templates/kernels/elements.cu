// elements: moves a tensor between any two views, one element a thread, in the destination's order. Right for
// every stride and alignment; what faster kernels cannot take.
//
// Facts of the kernel, from its prelude: rank, element_bytes, threads.
#include "tmajit/vector16.cuh"
#include "tmajit/view_pair.cuh"

namespace tmajit {

__device__ __forceinline__ void move_elements(const ViewPair<rank>& views) {
  using Element = typename Bits<element_bytes>::Type;
  u64 count = 1;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) count *= views.extent[d];
  for (u64 n = static_cast<u64>(blockIdx.x) * threads + threadIdx.x; n < count;
       n += static_cast<u64>(gridDim.x) * threads) {
    u64 rest = n;
    const u8* from = views.source;
    u8* to = views.destination;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u64 at = d == 0 ? rest : rest % views.extent[d];
      rest /= views.extent[d];
      from += static_cast<i64>(at) * views.source_step[d];
      to += static_cast<i64>(at) * views.destination_step[d];
    }
    *reinterpret_cast<Element*>(to) = *reinterpret_cast<const Element*>(from);
  }
}

}  // namespace tmajit
