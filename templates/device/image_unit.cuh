// Copies units of 16 bytes from a source to an image in shared memory, without reading beyond the source.
#pragma once
#include "tmajit/async_copy.cuh"
#include "tmajit/vector16.cuh"
#include "tmajit/view_tile.cuh"

namespace tmajit {

constexpr u32 unit = 16;  // bytes of one copy

// Whether all units that hold an element of the tile lie within the view's bytes: false only at the ends of its
// memory. Rows may begin `before` elements before the tile.
template <u32 rank>
__device__ __forceinline__ bool is_inner(const params::View<rank>& view, const Tile<rank>& tile, u32 before) {
  const u8* low = tile.in(view) - before * view.step[rank - 1];
  const u8* high = low;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) {
    const i64 reach = (tile.inside[d] - 1 + static_cast<i64>(d == rank - 1 ? before : 0)) * view.step[d];
    (reach > 0 ? high : low) += reach;
  }
  return low >= view.low + (unit - 1) && high + unit <= view.high;
}

// Copies a unit. Its bytes outside the view become zero; without `exists`, all its bytes become zero. `from` is a multiple of 16.
// `inner` says that all bytes belong to the view, `begins_inside` that at least the first does.
template <u32 element_bytes, u32 rank, bool begins_inside = false>
__device__ __forceinline__ void copy_unit(u32 to, const u8* from, bool exists, const params::View<rank>& view,
                                          bool inner) {
  u32 bytes = exists ? unit : 0;
  if (exists && !inner) {
    if (from + unit > view.high) bytes = static_cast<u32>(view.high - from);
    if (!begins_inside && from < view.low) {
      // An asynchronous copy can leave out bytes at its end, but not at its beginning.
      using Element = typename Bits<element_bytes>::Type;
      u8* shared = static_cast<u8*>(__cvta_shared_to_generic(to));
#pragma unroll 1
      for (u32 k = 0; k < unit; k += element_bytes) {
        const bool inside = from + k >= view.low && k < bytes;
        *reinterpret_cast<Element*>(shared + k) = inside ? *reinterpret_cast<const Element*>(from + k) : Element(0);
      }
      return;
    }
  }
  ptx::copy16_async(to, from, bytes);
}

}  // namespace tmajit
