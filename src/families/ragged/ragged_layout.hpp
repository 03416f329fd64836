#pragma once

#include "families/ragged/ragged_pairs.hpp"
#include "kernel/family.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// How a batch of copies is done in one launch: the tiles, and the table that its kernel reads
/// (templates/params/ragged_batch.cuh).
struct RaggedLayout {
  std::uint32_t rank = 1;                          ///< dimensions after all that can be merged are
  std::uint32_t element_bytes = 1;                 ///< bytes that move at once: 1 to 8
  std::array<std::uint32_t, max_map_rank> tile{};  ///< elements, outermost first
  std::uint32_t part_columns = 1;                  ///< columns of the boxes that a tile's row consists of
  std::uint32_t stages = 1;                        ///< tiles of a CTA in flight
  std::uint32_t ctas_per_sm = 1;
  bool row_tails = false;          ///< some destination's rows end within 16 bytes
  bool elements = false;           ///< no tensor map describes some tensors
  std::uint64_t moved = 0;         ///< elements of `element_bytes`, of all tensors
  std::uint64_t by_threads = 0;    ///< elements that threads move
  std::uint32_t count = 0;         ///< tensors that are not empty
  std::uint32_t tiles = 0;         ///< tiles of all tensors
  std::uint64_t first_offset = 0;  ///< offset of the tiles' numbers in the table
  std::vector<std::byte> table = {};

  [[nodiscard]] std::uint32_t parts() const noexcept { return tile[rank - 1] / part_columns; }
  [[nodiscard]] std::uint32_t part_bytes() const noexcept;  ///< bytes of one box
  [[nodiscard]] std::uint32_t stage_bytes() const noexcept;
  [[nodiscard]] std::uint32_t map_image() const noexcept { return stages * stage_bytes(); }
  [[nodiscard]] std::uint32_t barriers() const noexcept;
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
  /// The map that kernels change for each tensor.
  [[nodiscard]] TensorMapSpec pattern() const;
};

/// The numbers that are free to choose for speed.
struct RaggedTiling {
  std::uint32_t tile_bytes = 8 * 1024;  ///< at most, unless one row has more
  std::uint32_t stages = 3;
  std::uint32_t ctas_per_sm = 6;
};

/// The layout of a batch. Throws Error{unsupported} for more than 2^31 - 1 tiles.
[[nodiscard]] RaggedLayout ragged_layout(const RaggedPairs& pairs, const RaggedTiling& tiling = {});

TMAJIT_END
