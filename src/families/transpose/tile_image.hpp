#pragma once

#include "families/shared/blocks.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <cstdint>

TMAJIT_BEGIN

/// The image of a transpose's tile in shared memory, as templates/kernels/transpose.cu lays it out: vectors
/// along the destination's rows, in the destination's order. Also tells which vectors a warp accesses at
/// once.
class TileImage {
 public:
  using Numbers = PerDimension;

  explicit TileImage(const BlockFacts& facts);

  /// Bytes of shared memory.
  [[nodiscard]] std::uint32_t bytes() const noexcept;
  /// Blocks of the tile in each dimension; in dimensions that blocks do not extend over, elements.
  [[nodiscard]] const Numbers& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint32_t block_count() const noexcept { return block_count_; }
  /// Stored vectors of the tile in the last dimension; in other dimensions, elements.
  [[nodiscard]] const Numbers& vectors() const noexcept { return vectors_; }

  [[nodiscard]] std::uint32_t vector_count() const noexcept { return vector_count_; }
  /// Vectors of the image from one index of a dimension to the next; in the last dimension, from one block to
  /// the next.
  [[nodiscard]] const Numbers& step() const noexcept { return step_; }

  /// The number of warps that write blocks to the image, and that read vectors from it.
  [[nodiscard]] std::uint32_t writing_warps() const noexcept;
  [[nodiscard]] std::uint32_t reading_warps() const noexcept;
  /// The access with which a warp writes line `line` of its blocks.
  [[nodiscard]] WarpAccess write(std::uint32_t warp, std::uint32_t line, std::uint32_t swizzle) const;
  /// The access with which a warp reads the vectors that it stores. In a staggered tile rows may begin one
  /// vector later.
  [[nodiscard]] WarpAccess read(std::uint32_t warp, std::uint32_t swizzle) const;

  /// The value of the kernel's constant `swizzle` that causes the fewest bank conflicts.
  [[nodiscard]] std::uint32_t best_swizzle() const;

 private:
  [[nodiscard]] Numbers index(std::uint32_t n, const Numbers& order, const Numbers& counts) const;
  [[nodiscard]] std::uint32_t offset(std::uint32_t position, std::uint32_t column_index,
                                     std::uint32_t swizzle) const;

  BlockFacts facts_;
  std::uint32_t row_;
  std::uint32_t banks_;  ///< number of banks of a vector's width
  Numbers blocks_{};
  Numbers vectors_{};
  Numbers step_{};
  std::uint32_t block_count_ = 0;
  std::uint32_t vector_count_ = 0;
};

TMAJIT_END
