#pragma once

#include "families/shared/blocks.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <cstdint>

TMAJIT_BEGIN

/// The image of a transpose's tile in shared memory, as templates/kernels/transpose.cu lays it out: vectors
/// along the destination's rows, in its order; and which of them a warp touches at once.
class TileImage {
 public:
  using Numbers = PerDimension;

  explicit TileImage(const BlockFacts& facts);

  /// Bytes of shared memory.
  [[nodiscard]] std::uint32_t bytes() const noexcept;
  /// In each dimension: blocks of the tile, or its elements in dimensions that blocks do not have.
  [[nodiscard]] const Numbers& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint32_t block_count() const noexcept { return block_count_; }
  /// And vectors that are stored.
  [[nodiscard]] const Numbers& vectors() const noexcept { return vectors_; }

  [[nodiscard]] std::uint32_t vector_count() const noexcept { return vector_count_; }
  /// Vectors of the image from one index of a dimension to the next; of the last from one block to the next.
  [[nodiscard]] const Numbers& step() const noexcept { return step_; }

  /// Warps that have blocks, or vectors, to do.
  [[nodiscard]] std::uint32_t writing_warps() const noexcept;
  [[nodiscard]] std::uint32_t reading_warps() const noexcept;
  /// Where a warp puts line `line` of its blocks.
  [[nodiscard]] WarpAccess write(std::uint32_t warp, std::uint32_t line, std::uint32_t swizzle) const;
  /// Where a warp takes vectors to store from. In a staggered tile rows may begin one vector further on.
  [[nodiscard]] WarpAccess read(std::uint32_t warp, std::uint32_t swizzle) const;

  /// The kernel's `swizzle` that meets the fewest banks twice.
  [[nodiscard]] std::uint32_t best_swizzle() const;

 private:
  [[nodiscard]] Numbers index(std::uint32_t n, const Numbers& order, const Numbers& counts) const;
  [[nodiscard]] std::uint32_t offset(std::uint32_t position, std::uint32_t column_index,
                                     std::uint32_t swizzle) const;

  BlockFacts facts_;
  std::uint32_t row_;
  std::uint32_t banks_;  ///< a vector wide
  Numbers blocks_{};
  Numbers vectors_{};
  Numbers step_{};  ///< vectors from one index to the next; of `row` from one block to the next
  std::uint32_t block_count_ = 0;
  std::uint32_t vector_count_ = 0;
};

TMAJIT_END
