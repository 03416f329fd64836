#pragma once

#include "kernel/family.hpp"

#include <tmajit/reduction_team.cuh>

#include <cstdint>
#include <string>

TMAJIT_BEGIN

/// Unaligned rows of at least this many bytes are cut at multiples of 16 bytes. Shorter ones are loaded
/// element by element.
inline constexpr std::uint64_t min_staggered_row_bytes = 256;
inline constexpr std::uint32_t parts_at_once = 8;  ///< partial results that a thread reads in one wait

/// The fact Reducer: the struct of templates/kernels/reducers.cuh that reduces by `op`.
[[nodiscard]] std::string reducer_fact(ReductionOp op);
/// The most bytes of an accumulator.
[[nodiscard]] std::uint32_t max_state_bytes(ReductionOp op) noexcept;

/// How threads and CTAs share a reduction (templates/kernels/meeting.cuh).
struct ReductionTeamShape {
  bool columns = false;                ///< neighbouring threads take neighbouring result items
  std::uint32_t tile_items = 1;        ///< result items of a CTA
  std::uint32_t threads_per_item = 1;  ///< threads that share a result item
  std::uint32_t parts = 1;             ///< CTAs that share a result item
  std::uint64_t tiles = 1;             ///< tiles of result items
  std::uint32_t results = 1;           ///< results that a thread accumulates
};
/// The number of parts in a group. The last CTA of a group combines its parts, and the last group's CTA
/// combines the groups. All parts are one group, unless they are too many to be read at once.
[[nodiscard]] std::uint32_t parts_of_group(const ReductionTeamShape& shape) noexcept;
/// The number of consecutive waits for memory until the last CTA has combined all parts.
[[nodiscard]] std::uint32_t waits_of_parts(const ReductionTeamShape& shape) noexcept;
[[nodiscard]] params::ReductionTeam reduction_team(const ReductionTeamShape& shape);
/// Bytes of scratch memory for the partial results of all parts.
[[nodiscard]] std::uint32_t scratch_bytes(const ReductionTeamShape& shape, ReductionOp op);
/// Bytes of shared memory in which a CTA's threads combine their accumulators.
[[nodiscard]] std::uint32_t combining_bytes(const ReductionTeamShape& shape, ReductionOp op) noexcept;

TMAJIT_END
