#pragma once

#include "kernel/problem.hpp"

#include <cstdint>
#include <span>

TMAJIT_BEGIN

inline constexpr std::uint32_t memory_line_bytes = 128;  // a line of the L1 cache

/// The number of memory lines that one access of a warp touches. Its lanes walk over `dimensions` of an
/// operand, the first of them fastest, `step` indices from lane to lane. The walk has `count` indices; if
/// that is too few for all lanes, the result is scaled up to a full warp.
[[nodiscard]] double lines_met(const Problem& problem, std::uint32_t operand,
                               std::span<const std::uint32_t> dimensions, std::uint32_t step,
                               std::uint64_t count);
/// lines_met() if lanes walk over all dimensions of the nest, the last one fastest.
[[nodiscard]] double lines_along(const Problem& problem, std::uint32_t operand, std::uint32_t step);

TMAJIT_END
