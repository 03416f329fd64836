// The tiles that one CTA computes, in row-major order.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/tile_grid.cuh"
#include "tmajit/types.cuh"

namespace tmajit {

// A CTA's share of numbered items: `share` consecutive ones, or, for 0, every gridDim.x-th one.
template <u32 share>
struct Share {
  static constexpr bool persistent = share == 0;
  static __device__ __forceinline__ u64 first() {
    return persistent ? blockIdx.x : static_cast<u64>(blockIdx.x) * share;
  }
  static __device__ __forceinline__ u64 step() { return persistent ? gridDim.x : 1; }
  // The end of the share, out of `count` items.
  static __device__ __forceinline__ u64 last(u64 count) {
    const u64 end = first() + share;
    return persistent || end > count ? count : end;
  }
};

// Walks over `share` consecutive tiles, or, for 0, over every gridDim.x-th one. It steps from tile to tile by adding
// with carry: only the first position costs divisions. If the share is not 0, there are at most 2^31 tiles.
template <u32 rank, u32 share = 0> struct TileWalk {
  __device__ __forceinline__ explicit TileWalk(const params::TileGrid<rank>& grid) : grid_(grid) {
    u32 first = share == 0 ? blockIdx.x : blockIdx.x * share;
    u32 stride = gridDim.x;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      at[d] = d == 0 ? first : take(grid.tiles[d], first);
      step_[d] = share > 0 ? d == rank - 1 : d == 0 ? stride : take(grid.tiles[d], stride);
    }
  }

  // Whether a tile remains. If the share is one tile, there are as many CTAs as tiles.
  __device__ __forceinline__ explicit operator bool() const {
    if constexpr (share == 1) return done_ == 0;
    return at[0] < grid_.tiles[0].divisor && (share == 0 || done_ < share);
  }

  __device__ __forceinline__ void next() {
    ++done_;
    u32 carry = 0;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      at[d] += step_[d] + carry;
      carry = d > 0 && at[d] >= grid_.tiles[d].divisor;
      if (carry) at[d] -= grid_.tiles[d].divisor;
    }
  }

//@ used number
  // The tile's number in row-major order.
  __device__ __forceinline__ u64 number() const {
    u64 number = 0;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) number = number * grid_.tiles[d].divisor + at[d];
    return number;
  }

//@ end
  // The tile's first element in a tensor whose tiles span `extent` elements.
  __device__ __forceinline__ Coordinates<rank> origin(const Extent<rank>& extent) const {
    Coordinates<rank> first;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) first.at[rank - 1 - d] = static_cast<i32>(at[d] * extent.at[d]);
    return first;
  }

  u32 at[rank];  // the tile's index in each dimension, outermost first
 private:
  const params::TileGrid<rank>& grid_;
  u32 step_[rank];
  u32 done_ = 0;
};

}  // namespace tmajit
