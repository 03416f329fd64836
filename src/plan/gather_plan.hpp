#pragma once

#include "plan/move_kernel.hpp"

#include <cstdint>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// How a `gather` kernel's CTA works through its tile: what follows from the kernel's box and steps
/// (templates/kernels/gather.cu).
struct GatherLayout {
  std::uint32_t run_elements = 1;  ///< that follow each other in the destination
  std::uint32_t runs = 1;          ///< of a tile
  std::uint32_t parts = 1;         ///< of a run
  std::uint32_t slots = 1;         ///< vectors of 16 bytes that a part, or else a run, meets
  std::uint32_t slots_along = 32;  ///< that a warp stores of each part at a time
  std::uint32_t warps_along = 1;   ///< warps side by side along the runs
  std::uint32_t places = 0;        ///< in the table
  std::uint32_t place_pitch = 0;   ///< from one slot's places to the next's
  std::uint32_t line_count = 1;
  std::uint32_t line_bytes = 0;   ///< that a line spans
  std::uint32_t image_bytes = 0;  ///< a multiple of 16
  std::uint32_t bytes = 0;        ///< of shared memory: the image, then the table

  explicit GatherLayout(const MoveKernel& kernel) noexcept;
};

/// Whether a dimension is so short that blocks and chunks along it hold little.
[[nodiscard]] bool is_short(const MoveProblem& problem, std::uint32_t d) noexcept;
/// Whether the problem moves bits to runs of several dimensions of which the last, or that in which the
/// source is contiguous, is short.
[[nodiscard]] bool takes_gather(const MoveProblem& problem) noexcept;
/// Kernels for such a problem, the one that is best for large tensors first; none where tiles fit no image.
[[nodiscard]] std::vector<MoveCandidate> gather_candidates(const MoveProblem& problem);

/// The facts of such a kernel, for its source.
[[nodiscard]] std::string gather_facts(const MoveKernel& kernel);

TMAJIT_END
