#pragma once

#include "kernel/family.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// The most threads of a CTA in any launch of a `scan` kernel.
inline constexpr std::uint32_t max_scan_threads = 512;
/// The most bytes of a running sum, product, minimum or maximum.
inline constexpr std::uint32_t max_scan_state = 8;

/// A dimension by which the number of a row, or of a vector of columns, is split into indices.
struct ScanStep {
  std::uint32_t d = 0;         ///< dimension of the nest
  std::uint64_t extent = 0;    ///< number of indices, or of vectors
  std::uint32_t elements = 1;  ///< elements of a vector
};

/// The scratch memory of tiles that look back (templates/kernels/look_back.cuh).
struct ScanRingLayout {
  std::uint32_t log2_tiles = 0;          ///< slots for tiles
  std::uint32_t log2_unit = 0;           ///< tiles of a unit, and units of a block
  std::uint32_t waits = 0;               ///< parts of the ring by which a tile may be ahead of others
  std::array<std::uint64_t, 3> first{};  ///< bytes before the slots of tiles, units and blocks
};

/// Assigns elements to threads and tiles. The scanned dimension is the nest's last.
struct ScanLayout {
  bool columns = false;    ///< neighbouring threads take columns; else warps take parts of rows
  bool packed = false;     ///< a tile has whole rows
  bool dense = false;      ///< packed rows follow each other in memory without gaps
  bool crosses = false;    ///< a vector of dense rows may have elements of two rows
  bool split = false;      ///< tiles of a row run at once, in different CTAs
  bool alone = false;      ///< a thread walks its columns from the first row to the last
  bool in_step = false;    ///< if `alone`: the CTA's threads synchronise after some rows, to share sectors
  bool staggered = false;  ///< rows are not aligned to vectors
  bool cut = false;        ///< a vector may have elements beyond a row, or beyond the columns
  std::uint32_t vector = 1;
  std::uint32_t turns = 1;    ///< vectors of a thread
  std::uint32_t threads = 0;  ///< threads of a CTA
  std::uint32_t anchor = 0;   ///< the operand by whose addresses staggered rows are cut
  /// 1 if a vector's elements are contiguous in memory, −1 if they are so in reverse; else 0.
  std::array<std::int32_t, max_operands> run{};
  /// Bytes from the nest's first element to the first element of row 0; not 0 if rows are numbered backwards.
  std::array<std::int64_t, max_operands> first{};
  bool backwards = false;         ///< rows are numbered backwards
  std::vector<ScanStep> steps{};  ///< fastest first
  std::uint64_t length = 0;       ///< elements of the scanned dimension
  std::uint64_t kept = 1;         ///< number of rows, or of vectors of columns
  std::uint64_t row_vectors = 0;  ///< vectors of a row
  std::uint32_t rows = 1;         ///< rows of a packed tile
  std::uint32_t owners = 1;       ///< vectors of columns of a tile
  std::uint32_t phases = 1;       ///< threads that share a column
  std::uint64_t groups = 1;  ///< number of rows, of tiles of whole rows, or of neighbouring tiles of columns
  std::uint64_t parts = 1;   ///< tiles of a row
  ScanRingLayout ring = {};
  std::uint32_t ahead = 0;  ///< distance, in tiles of a row, at which a tile prefetches into L2; 0: none

  /// Whether rows, or vectors of columns, are counted in 64 bits.
  [[nodiscard]] bool is_wide() const noexcept { return kept >= std::uint64_t{1} << 30; }
  /// The largest of the distances 1, 2, 4 … in lanes over which packed rows combine; 0: none.
  [[nodiscard]] std::uint32_t farthest() const noexcept {
    const std::uint64_t lanes = dense ? (length + vector - 2) / vector : row_vectors - 1;
    return packed ? static_cast<std::uint32_t>(std::bit_floor(std::min<std::uint64_t>(lanes, 31))) : 0;
  }
  /// Whether the lanes of a warp hold whole rows in each turn.
  [[nodiscard]] bool is_within_warps() const noexcept {
    return packed && !crosses && !staggered && 32 % row_vectors == 0;
  }
  [[nodiscard]] std::uint64_t ctas() const noexcept { return split ? groups * parts : groups; }
};

/// Tunable parameters.
struct ScanTuning {
  std::uint32_t turns = 0;    ///< vectors of a thread; 0: chosen for the problem
  std::uint32_t threads = 0;  ///< threads of a CTA with enough work; 0: chosen for the problem
  bool shared = false;        ///< threads share columns, even if one could walk them alone
};
[[nodiscard]] ScanLayout scan_layout(const Problem& problem, const ScanTuning& tuning = {});

TMAJIT_END
