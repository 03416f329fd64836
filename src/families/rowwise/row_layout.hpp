#pragma once

#include "families/shared/views.hpp"

#include <array>
#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// The threads that share a row (templates/kernels/row_teams.cuh).
enum class RowTeam : std::uint32_t {
  lanes,    ///< lanes of a warp
  cta,      ///< a CTA
  cluster,  ///< the CTAs of a cluster
  columns,  ///< threads of a CTA; neighbouring threads take neighbouring rows
  grid,     ///< CTAs anywhere on the GPU, all resident at once (row_grid.cuh)
};
/// How a row's elements of an operand are accessed.
enum class RowAccess : std::uint32_t {
  elements,    ///< one by one, with any strides
  vectors,     ///< vectors at multiples of their size; those that contain an end of a row are loaded whole
  words,       ///< whole vectors that begin at any element, loaded by words
  one,         ///< the same element throughout the row; only sources
  number,      ///< the number that the launch passes; only sources
  exact,       ///< like `vectors`, but no element outside of a row is loaded
  neighbours,  ///< one by one; a row is contiguous
};

/// The free parameters of a layout.
struct RowTuning {
  RowTeam team = RowTeam::lanes;
  std::uint32_t turns = 1;          ///< vectors of a thread in flight at once
  std::uint32_t rows_at_once = 1;   ///< rows of a team in flight at once
  std::uint32_t threads = 32;       ///< threads of a CTA
  std::uint32_t team_threads = 32;  ///< threads of a CTA that share a row
  std::uint32_t cluster = 1;        ///< CTAs of a cluster, which share a row
  std::uint32_t group = 0;          ///< CTAs of the grid that share a row; 0 for other teams
  bool staged = false;              ///< CTAs hold their parts of a row in shared memory
  friend bool operator==(const RowTuning&, const RowTuning&) = default;
};

/// How a `rowwise` kernel walks a problem.
struct RowLayout {
  RowTuning tuning;
  std::uint32_t vector = 1;  ///< elements of a vector
  bool cut = false;          ///< a row may begin or end within a vector
  bool staggered = false;    ///< a row may begin within a vector
  std::uint32_t anchor = 0;  ///< if staggered: the operand whose vectors are aligned
  bool reloads = false;      ///< a row does not fit into the registers of its team
  bool slim = false;         ///< a thread has at most 64 registers, so that an SM holds 1,024 threads
  std::array<RowAccess, max_operands> access{};
  std::array<bool, max_operands> late{};  ///< a source that is loaded when results are stored, not before
  std::array<bool, max_operands> in_shared{};  ///< a source that shared memory holds, if the layout is staged
  std::uint64_t rows = 1;
  std::uint64_t length = 1;  ///< elements of a row
  std::uint64_t groups = 0;  ///< rows that the grid computes at once, if CTAs of the grid share one

  [[nodiscard]] std::uint64_t ctas() const noexcept;
  /// Scratch memory in which CTAs of the grid exchange the states of this many reductions; 0 for other teams.
  [[nodiscard]] std::uint64_t scratch_bytes(std::uint32_t reductions) const noexcept;
  /// Vectors of a row, at most. The first and the last one may be incomplete.
  [[nodiscard]] std::uint64_t vectors() const noexcept;
  /// Vectors of a row that a CTA holds in shared memory.
  [[nodiscard]] std::uint32_t part() const noexcept;
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
  /// Whether the numbers of rows need 64 bits.
  [[nodiscard]] bool is_wide() const noexcept { return rows >= std::uint64_t{1} << 31; }
};

inline constexpr std::uint32_t max_team_threads = 512;  ///< threads of a CTA, at most
inline constexpr std::uint32_t max_team_cluster = 16;   ///< CTAs of a cluster, at most
inline constexpr std::uint32_t staged_vector_bytes = 16;
/// Shared memory of a CTA for a row's elements, at most.
inline constexpr std::uint32_t max_staged_bytes = 208 * 1024;
/// Threads of a CTA of columns, at most; a power of two. Static shared memory must hold the states of all
/// reductions, `state_bytes` of each thread.
[[nodiscard]] std::uint32_t max_column_threads(std::uint32_t state_bytes) noexcept;
/// Threads of an SM if each has 64 registers.
inline constexpr std::uint32_t slim_threads_per_sm = 1024;

/// The layouts from which a planner chooses, the default first. Never empty.
[[nodiscard]] std::vector<RowLayout> row_layouts(const Problem& problem);

TMAJIT_END
