#pragma once

#include <tmajit/version.hpp>

#include <array>
#include <cstdint>

TMAJIT_BEGIN

/// The scratch memory of tiles that look back (templates/kernels/look_back.cuh).
struct ScanRingLayout {
  std::uint32_t log2_tiles = 0;          ///< log2 of the number of slots for tiles
  std::uint32_t log2_unit = 0;           ///< log2 of the tiles in a unit, and of the units in a block
  std::uint32_t waits = 0;               ///< parts of the ring that must be done before a tile reuses a slot
  std::array<std::uint64_t, 3> first{};  ///< byte offsets of the slots for tiles, units and blocks
};

/// Plans the slots of a launch of `chains * parts` tiles, whose states have `state_bytes` in total. Units
/// have at most `1 << log2_most` tiles. They are as long as possible, while half of the slots suffice for the
/// tiles that may still be read. Returns false, and leaves `ring` as it is, if even units of one tile are too
/// long.
[[nodiscard]] bool find_scan_ring(std::uint64_t chains, std::uint64_t parts, std::uint64_t state_bytes,
                                  std::uint32_t log2_most, ScanRingLayout& ring);

TMAJIT_END
