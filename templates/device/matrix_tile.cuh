// The matrix descriptor by which wgmma reads a box in shared memory.
//@ # PTX ISA, "Shared Memory Matrix Layout" and "Matrix Descriptor Format". sm_90a.
#pragma once
#include "tmajit/wgmma.cuh"

namespace tmajit {

// A box of `rows` × `columns` elements with contiguous columns, as a load through a tensor map of this box and swizzle
// stores it.
// Along K (Major::k) its rows are those of A, or the columns of B; along M or N (Major::mn) each row is one index of K.
//
// Consecutive boxes may form a longer operand: along K, and for Major::mn also along M or N.
//@ # The table "Canonical Layouts" gives the offsets between groups of eight rows and between boxes.
template <class Element, MapSwizzle swizzle, Major major, u32 rows, u32 columns>
struct MatrixTile {
  static constexpr bool is_swizzled = swizzle != MapSwizzle::none;
  static constexpr u32 row_bytes = columns * sizeof(Element);
  static constexpr u32 span = 16u << static_cast<u32>(swizzle);  // bytes that the swizzle permutes; 16 without a swizzle
  static constexpr u32 box_bytes = rows * span;                  // from one box to the next
  static constexpr u32 alignment = is_swizzled ? 8 * span : 128;  // alignment of the first box
  // Number of wgmma instructions that read a box. Each reads 32 bytes along K: one step.
  static constexpr u32 steps = major == Major::mn ? rows / 16 : row_bytes / 32;

  static_assert(sizeof(Element) <= 4, "wgmma reads elements of one, two or four bytes");
  static_assert(major == Major::k || sizeof(Element) == 2,
                "wgmma reads only elements of two bytes along M or N; others must be contiguous along K");
  static_assert(is_swizzled || row_bytes == 16, "without a swizzle wgmma reads boxes of 16 bytes a row");
  static_assert(!is_swizzled || row_bytes <= span, "the box's rows are longer than the swizzle's span");
  static_assert(!is_swizzled || major == Major::mn || row_bytes % 32 == 0,
                "wgmma reads 32 bytes along K at a time: the box's rows must be a multiple of that");
  static_assert(!is_swizzled || major == Major::k || row_bytes == span,
                "along M or N the box's rows must be as long as the swizzle's span");
  static_assert(rows % 8 == 0, "wgmma reads groups of eight rows: the box must have a multiple of eight");
  static_assert(major == Major::k || rows % 16 == 0, "wgmma reads 16 indices of K at a time: the box must have a multiple of 16 rows");
  static_assert(box_bytes < (1u << 18), "a descriptor's offsets are less than 256 KiB");

  // The descriptor of step `step` along K of the boxes at `address`, a multiple of `alignment`. For Major::k, steps beyond
  // the box are those of the following boxes; without a swizzle each step takes two boxes.
  __device__ __forceinline__ static MatrixDescriptor descriptor(u32 address, u32 step = 0) {
    return {fixed | (address + offset(step)) >> 4 & 0x3fff};
  }

  // The offset of step `step` in bytes.
  __device__ __forceinline__ static constexpr u32 offset(u32 step) {
    if constexpr (major == Major::mn) {
      return step * 16 * span;
    } else if constexpr (is_swizzled) {
      return step / steps * box_bytes + step % steps * 32;
    } else {
      return step * 2 * box_bytes;
    }
  }

 private:
  // Offsets between groups of eight rows and between boxes, where the layout has them.
  static constexpr u32 group = 8 * span;
  static constexpr u32 leading = !is_swizzled && major == Major::mn ? group : is_swizzled && major == Major::k ? 16 : box_bytes;
  static constexpr u32 stride = !is_swizzled && major == Major::mn ? box_bytes : group;
  static constexpr u64 mode = is_swizzled ? 4 - static_cast<u64>(swizzle) : 0;  // 1, 2, 3 for 128B, 64B, 32B
  static constexpr u64 fixed = static_cast<u64>(leading >> 4) << 16 | static_cast<u64>(stride >> 4) << 32 | mode << 62;
};

}  // namespace tmajit
