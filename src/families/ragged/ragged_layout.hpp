#pragma once

#include "families/ragged/ragged_pairs.hpp"
#include "kernel/family.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// How one launch copies a batch: the tiles, and the table that the kernel reads
/// (templates/params/ragged_batch.cuh).
struct RaggedLayout {
  std::uint32_t rank = 1;                          ///< number of merged dimensions (ragged_pairs())
  std::uint32_t element_bytes = 1;                 ///< bytes of a widened element: 1 to 8
  std::array<std::uint32_t, max_map_rank> tile{};  ///< extents in elements, outermost first
  std::uint32_t part_columns = 1;                  ///< columns of the boxes that a tile's row consists of
  std::uint32_t stages = 1;                        ///< tiles of a CTA in flight
  std::uint32_t ctas_per_sm = 1;
  bool row_tails = false;          ///< some destination's rows are no multiple of 16 bytes
  bool has_unmapped = false;       ///< threads move some tensors, which no tensor map can describe
  std::uint64_t moved = 0;         ///< elements of `element_bytes`, of all tensors
  std::uint64_t by_threads = 0;    ///< elements that threads move
  std::uint32_t count = 0;         ///< tensors that are not empty
  std::uint32_t tiles = 0;         ///< tiles of all tensors
  std::uint64_t first_offset = 0;  ///< where the table's list of each tensor's first tile begins, in bytes
  std::vector<std::byte> table = {};

  [[nodiscard]] std::uint32_t parts() const noexcept { return tile[rank - 1] / part_columns; }
  [[nodiscard]] std::uint32_t part_bytes() const noexcept;  ///< bytes of one box
  [[nodiscard]] std::uint32_t stage_bytes() const noexcept;
  /// Offset in shared memory of the two tensor maps that the kernel modifies.
  [[nodiscard]] std::uint32_t map_image() const noexcept { return stages * stage_bytes(); }
  /// Offset in shared memory of the mbarriers.
  [[nodiscard]] std::uint32_t barriers() const noexcept;
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
  /// The tensor map that kernels modify for each tensor.
  [[nodiscard]] TensorMapSpec pattern() const;
};

/// Tunable parameters.
struct RaggedTiling {
  std::uint32_t tile_bytes = 8 * 1024;  ///< most bytes of a tile, unless one row has more
  std::uint32_t stages = 3;
  std::uint32_t ctas_per_sm = 6;
};

/// The layout of a batch. Throws Error{unsupported} for more than 2^31 - 1 tiles.
[[nodiscard]] RaggedLayout ragged_layout(const RaggedPairs& pairs, const RaggedTiling& tiling = {});

TMAJIT_END
