#pragma once

#include "plan/move_kernel.hpp"

#include <tmajit/device.hpp>

#include <cstddef>
#include <vector>

TMAJIT_BEGIN

/// What the model must know of a chip.
struct Chip {
  double gbps = 4260;  ///< bytes read and written by the driver's copy of 1 GiB, 10⁹ a second
  std::uint32_t sms = 132;
};

[[nodiscard]] Chip chip_of(const DeviceInfo& info) noexcept;

/// CTAs of a kernel that an SM holds, by its threads and shared memory.
[[nodiscard]] std::uint32_t resident_ctas(const MoveKernel& kernel) noexcept;

/// Microseconds that a candidate takes, from nothing but arithmetic. Right to some ten per cent; good enough
/// to choose by (docs/performance.md has the measurements behind the numbers).
[[nodiscard]] double predict_us(const MoveCandidate& candidate, const MoveProblem& problem,
                                const Chip& chip) noexcept;

/// The index of the candidate to take: the first, unless the model finds another clearly faster.
[[nodiscard]] std::size_t choose(const std::vector<MoveCandidate>& candidates, const MoveProblem& problem,
                                 const Chip& chip) noexcept;

TMAJIT_END
