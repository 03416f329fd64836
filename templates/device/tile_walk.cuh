// The tiles that one CTA does, in row-major order: `share` of them one after the other, or, where that is 0,
// every gridDim.x-th one of a persistent grid.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

// Tiles in each dimension, outermost first.
template <u32 rank>
struct TileGrid {
  u32 tiles[rank];
};

// A CTA's share of things to do, be they tiles or chunks.
template <u32 share>
struct Share {
  static constexpr bool persistent = share == 0;

  static __device__ __forceinline__ u64 first() {
    return persistent ? blockIdx.x : static_cast<u64>(blockIdx.x) * share;
  }
  static __device__ __forceinline__ u64 step() { return persistent ? gridDim.x : 1; }
  // The end of the share, of `count` things in all.
  static __device__ __forceinline__ u64 last(u64 count) {
    const u64 end = first() + share;
    return persistent || end > count ? count : end;
  }
};

// Steps from tile to tile by adding with carry: only the first position costs divisions.
template <u32 rank, u32 share = 0>
struct TileWalk {
  __device__ __forceinline__ explicit TileWalk(const TileGrid<rank>& grid) : grid_(grid) {
    u64 first = Share<share>::first();
    u64 stride = Share<share>::step();
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const bool outermost = d == 0;
      at[d] = outermost ? static_cast<u32>(first) : static_cast<u32>(first % grid.tiles[d]);
      step_[d] = outermost ? static_cast<u32>(stride) : static_cast<u32>(stride % grid.tiles[d]);
      first /= grid.tiles[d];
      stride /= grid.tiles[d];
    }
  }

  // Whether there is a tile left.
  __device__ __forceinline__ explicit operator bool() const {
    return at[0] < grid_.tiles[0] && (Share<share>::persistent || done_ < share);
  }

  __device__ __forceinline__ void next() {
    ++done_;
    u32 carry = 0;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      at[d] += step_[d] + carry;
      carry = d > 0 && at[d] >= grid_.tiles[d];
      if (carry) at[d] -= grid_.tiles[d];
    }
  }

  // The tile's number in row-major order.
  __device__ __forceinline__ u64 number() const {
    u64 number = 0;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) number = number * grid_.tiles[d] + at[d];
    return number;
  }

  // The coordinates of the tile's first element in a tensor whose tiles span `extent` elements.
  __device__ __forceinline__ Coordinates<rank> origin(const Extent<rank>& extent) const {
    Coordinates<rank> first;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) first.at[rank - 1 - d] = static_cast<i32>(at[d] * extent.at[d]);
    return first;
  }

  u32 at[rank];  // the tile's index in each dimension, outermost first

 private:
  const TileGrid<rank>& grid_;
  u32 step_[rank];
  u32 done_ = 0;
};

}  // namespace tmajit
