// Where an operand's ring lies in shared memory, and where each byte of a tile lies in a stage of the ring.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

struct Placement {
  u32 offset;        // offset of stage 0 from the aligned base
  u32 stage_bytes;   // from one stage to the next
  u32 load_bytes;    // bytes that the copy engine counts on the mbarrier for one tile
  u32 tile_bytes;    // bytes of the tile's image, gaps between rows included
  u32 pitch;         // bytes from one row of the tile to the next
  u32 swizzle_mask;  // 0, 1, 3, 7 for none, 32B, 64B, 128B
  __device__ __forceinline__ constexpr u32 stage(u32 index) const { return offset + index * stage_bytes; }
  // The offset in a stage of byte `byte` of row `row`.
//@ # The swizzle's pattern is a function of the absolute address. Stages are aligned to its period, so it is also a
//@ # function of the offset.
  __device__ __forceinline__ constexpr u32 at(u32 row, u32 byte) const {
    const u32 linear = row * pitch + byte;
    return linear ^ ((linear >> 7) & swizzle_mask) << 4;
  }
};

}  // namespace tmajit
