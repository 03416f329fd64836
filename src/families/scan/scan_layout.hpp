#pragma once

#include "families/scan/scan_ring.hpp"
#include "kernel/family.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// The most threads of a CTA in any launch of a `scan` kernel.
inline constexpr std::uint32_t max_scan_threads = 512;
/// The most bytes of a state: a running sum, product, minimum or maximum.
inline constexpr std::uint32_t max_scan_state = 8;

/// A digit of the linear index of a row, or of a vector of columns: the index in one dimension.
struct ScanStep {
  std::uint32_t d = 0;         ///< dimension of the nest
  std::uint64_t extent = 0;    ///< the dimension's extent, in elements or in vectors
  std::uint32_t elements = 1;  ///< elements of a vector; 1 if the digit counts elements
};

/// Assigns elements to threads and tiles. The scanned dimension is the nest's last.
struct ScanLayout {
  bool columns = false;     ///< neighbouring threads take neighbouring columns; if false, parts of a row
  bool packed = false;      ///< a tile consists of whole rows; columns are never packed
  bool dense = false;       ///< packed rows are contiguous in memory, without gaps between them
  bool crosses = false;     ///< a vector of dense rows may have elements of several rows
  bool split = false;       ///< the tiles of a row run concurrently in different CTAs, and look back
  bool by_threads = false;  ///< one thread scans a column from the first row to the last
  bool by_lanes = false;    ///< `threads_along` neighbouring lanes share columns: each takes `turns` rows
  /// If `by_threads`: a CTA's threads synchronise before they store, so that they share sectors.
  bool synchronised = false;
  bool staggered = false;  ///< rows do not begin at boundaries of vectors
  bool cut = false;        ///< a vector may extend beyond its row, or beyond the columns
  std::uint32_t vector = 1;
  std::uint32_t turns = 1;    ///< vectors that a thread has of a tile, and loads before it waits
  std::uint32_t threads = 0;  ///< threads of a CTA
  std::uint32_t anchor = 0;   ///< operand in which the vectors of staggered rows are aligned
  /// Stride of a vector's elements if one load or store can move it: 1, or −1 for reverse order. If not: 0.
  std::array<std::int32_t, max_operands> run{};
  /// Byte offset of row 0 from the nest's first element; 0 unless rows are numbered backwards.
  std::array<std::int64_t, max_operands> first{};
  bool backwards = false;            ///< rows are numbered backwards
  std::vector<ScanStep> steps{};     ///< all dimensions but the scanned one, the fastest varying digit first
  std::uint64_t length = 0;          ///< elements of the scanned dimension
  std::uint64_t lines = 1;           ///< number of rows, or of vectors of columns
  std::uint64_t row_vectors = 0;     ///< vectors of a row
  std::uint32_t rows = 1;            ///< rows of a packed tile
  std::uint32_t threads_across = 1;  ///< threads side by side, each with a vector of columns
  std::uint32_t threads_along = 1;   ///< threads that share a column
  /// Number of chains. The tiles of a long row, or of neighbouring columns, follow one another and form a
  /// chain. A tile of packed rows is a chain by itself.
  std::uint64_t chains = 1;
  std::uint64_t parts = 1;  ///< tiles along the scanned dimension
  ScanRingLayout ring = {};
  /// A tile prefetches the tile of its row that is this number of tiles later; 0: none.
  std::uint32_t prefetch_distance = 0;

  /// Whether the linear index of a row, or of a vector of columns, needs 64 bits.
  [[nodiscard]] bool is_wide() const noexcept { return lines >= std::uint64_t{1} << 30; }
  /// The largest of the distances 1, 2, 4 … at which lanes have elements of one packed row; 0: none.
  [[nodiscard]] std::uint32_t farthest() const noexcept {
    const std::uint64_t lanes = dense ? (length + vector - 2) / vector : row_vectors - 1;
    return packed ? static_cast<std::uint32_t>(std::bit_floor(std::min<std::uint64_t>(lanes, 31))) : 0;
  }
  /// Whether the 32 vectors that a warp has in a turn are whole rows.
  [[nodiscard]] bool is_within_warps() const noexcept {
    return packed && !crosses && !staggered && 32 % row_vectors == 0;
  }
  [[nodiscard]] std::uint64_t ctas() const noexcept { return split ? chains * parts : chains; }
};

/// Parameters that a candidate may fix.
struct ScanTuning {
  std::uint32_t turns = 0;     ///< ScanLayout::turns; 0: chosen for the problem
  std::uint32_t threads = 0;   ///< threads of a CTA with enough work; 0: chosen for the problem
  bool share_columns = false;  ///< several threads share each column, even if one could scan it alone
};
[[nodiscard]] ScanLayout scan_layout(const Problem& problem, const ScanTuning& tuning = {});

TMAJIT_END
