#pragma once

#include "kernel/family.hpp"

#include <tmajit/prediction.hpp>

#include <array>
#include <cstdint>

TMAJIT_BEGIN

/// The extents in elements of a box that covers a tile, or several tiles, the last of them maybe in part.
using ElementBox = std::array<double, max_view_rank>;

/// The box of `tiles` successive tiles, in the order in which CTAs take them; of at least one tile.
[[nodiscard]] ElementBox box_of_tiles(const Footprint& footprint, const CanonicalNest& nest, double tiles);

/// How a kernel accesses the memory of a box.
struct BoxAccess {
  std::uint32_t store_bytes = 0;  ///< least alignment of stores in bytes, whatever the box; 0: unknown
  bool row_by_row = false;        ///< a sector that two rows share is accessed twice, as by the copy engine
};

/// The traffic of one operand if boxes of this size cover the nest. Each box accesses pieces of memory: bytes
/// without a gap of a sector or more. A piece that is aligned to g bytes touches sectors that have on average
/// 32 − g bytes more than the piece.
[[nodiscard]] PredictedTraffic traffic_of(const ElementBox& box, const Problem& problem,
                                          const CanonicalNest& nest, std::uint32_t operand,
                                          BoxAccess access = {});

TMAJIT_END
