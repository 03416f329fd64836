#pragma once

#include "kernel/family.hpp"

#include <tmajit/reduction_team.cuh>

#include <cstdint>
#include <string>

TMAJIT_BEGIN

/// Rows that begin anywhere `reduce` cuts at multiples of 16 bytes if they are so long; shorter ones it loads
/// element by element.
inline constexpr std::uint64_t bytes_of_staggered_row = 256;
inline constexpr std::uint32_t parts_at_once = 8;  ///< parts that a thread reads without waiting

/// The fact Reducer of a kernel of reductions: the struct of templates/kernels/reducers.cuh that does it.
[[nodiscard]] std::string reducer_fact(ReductionOp op);
/// Bytes that a thread keeps of what comes together, at most.
[[nodiscard]] std::uint32_t most_state_bytes(ReductionOp op) noexcept;

/// How threads and CTAs share a reduction (templates/kernels/meeting.cuh).
struct ReductionTeamShape {
  bool columns = false;       ///< threads side by side have items of what is kept, not phases
  std::uint32_t owners = 1;   ///< items of what is kept that a CTA does at a time
  std::uint32_t phases = 1;   ///< threads that share one
  std::uint32_t parts = 1;    ///< CTAs that share them
  std::uint64_t tiles = 1;    ///< tiles that have parts
  std::uint32_t results = 1;  ///< results that a thread keeps
};
/// Parts that meet in a group before groups do: all, unless there are so many that they would wait for each
/// other.
[[nodiscard]] std::uint32_t parts_of_group(const ReductionTeamShape& shape) noexcept;
/// How often the last CTA of all waits for memory: one reading after the other of what parts left.
[[nodiscard]] std::uint32_t waits_of_parts(const ReductionTeamShape& shape) noexcept;
[[nodiscard]] params::ReductionTeam reduction_team(const ReductionTeamShape& shape);
/// Bytes of scratch memory where CTAs share what comes together.
[[nodiscard]] std::uint32_t scratch_bytes(const ReductionTeamShape& shape, ReductionOp op);
/// Bytes of shared memory in which threads meet.
[[nodiscard]] std::uint32_t meeting_bytes(const ReductionTeamShape& shape, ReductionOp op) noexcept;

TMAJIT_END
