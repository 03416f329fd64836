#pragma once

#include "kernel/family.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// Threads of any launch of a `scan` kernel, at most.
inline constexpr std::uint32_t most_scan_threads = 512;
/// Bytes of the state of a thread's sum, product or extreme, at most.
inline constexpr std::uint32_t most_scan_state = 8;

/// A step of taking the number of a row, or of a vector of columns, apart.
struct ScanStep {
  std::uint32_t d = 0;         ///< dimension of the nest
  std::uint64_t extent = 0;    ///< indices, or vectors
  std::uint32_t elements = 1;  ///< elements of a vector
};

/// The scratch memory of tiles that look back (templates/kernels/look_back.cuh).
struct ScanRingLayout {
  std::uint32_t log2_tiles = 0;
  std::uint32_t log2_unit = 0;
  std::uint32_t waits = 0;
  std::array<std::uint64_t, 3> first{};  ///< bytes before the slots of tiles, units and blocks
};

/// Assigns elements to threads and tiles. The scanned dimension is the nest's last.
struct ScanLayout {
  bool columns = false;    ///< threads side by side own columns; else a warp owns parts of rows
  bool packed = false;     ///< a tile has whole rows
  bool dense = false;      ///< packed rows lie one behind the other
  bool crosses = false;    ///< a vector may have elements of two of them
  bool split = false;      ///< tiles of a row run at once
  bool alone = false;      ///< a thread walks its columns from the first row to the last
  bool in_step = false;    ///< its CTA's threads wait for each other after some rows
  bool staggered = false;  ///< rows begin between boundaries of vectors
  bool cut = false;        ///< a vector may have elements beyond a row, or beyond the columns
  std::uint32_t vector = 1;
  std::uint32_t turns = 1;    ///< vectors of a thread
  std::uint32_t threads = 0;  ///< threads of a CTA
  std::uint32_t anchor = 0;   ///< the operand by whose addresses staggered rows are cut
  /// 1 where a vector's elements are neighbours in memory, −1 where they are so in reverse; else 0.
  std::array<std::int32_t, max_operands> run{};
  /// Bytes from the nest's first element to the first of row 0, where rows are numbered backwards.
  std::array<std::int64_t, max_operands> first{};
  bool backwards = false;         ///< rows are
  std::vector<ScanStep> steps{};  ///< fastest first
  std::uint64_t length = 0;       ///< elements of the scanned dimension
  std::uint64_t kept = 1;         ///< rows, or vectors of columns
  std::uint64_t row_vectors = 0;
  std::uint32_t rows = 1;    ///< rows of a packed tile
  std::uint32_t owners = 1;  ///< vectors of columns of a tile
  std::uint32_t phases = 1;  ///< threads that share a column
  std::uint64_t groups = 1;  ///< rows, tiles of whole rows, or tiles side by side
  std::uint64_t parts = 1;   ///< tiles of a row
  ScanRingLayout ring = {};
  std::uint32_t ahead = 0;  ///< tiles of a row from one to the one whose elements it brings into the L2 cache

  /// Whether rows, or vectors of columns, are counted in 64 bits.
  [[nodiscard]] bool is_wide() const noexcept { return kept >= std::uint64_t{1} << 30; }
  /// The last of the distances 1, 2, 4 … over which lanes of packed rows combine; 0: none does.
  [[nodiscard]] std::uint32_t farthest() const noexcept {
    const std::uint64_t before = dense ? (length + vector - 2) / vector : row_vectors - 1;
    return packed ? static_cast<std::uint32_t>(std::bit_floor(std::min<std::uint64_t>(before, 31))) : 0;
  }
  [[nodiscard]] std::uint64_t ctas() const noexcept { return split ? groups * parts : groups; }
};

/// The choices of a tuner.
struct ScanTuning {
  std::uint32_t turns = 0;    ///< vectors of a thread; 0: as many as suit the problem
  std::uint32_t threads = 0;  ///< threads of a CTA of many vectors; 0: as many as suit the problem
  bool shared = false;        ///< threads share columns, even if one could walk them alone
};
[[nodiscard]] ScanLayout scan_layout(const Problem& problem, const ScanTuning& tuning = {});

TMAJIT_END
