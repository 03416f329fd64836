#pragma once

#include "kernel/problem.hpp"

#include <cstdint>
#include <span>

TMAJIT_BEGIN

inline constexpr std::uint32_t memory_line_bytes = 128;  // that one access of a warp takes of the L1 cache

/// Lines of memory that a warp meets whose lanes go along some dimensions of an operand, the first of them
/// fastest, by `step` indices each, in all `count`. Where they are fewer than its lanes, it meets as many
/// more elsewhere.
[[nodiscard]] double lines_met(const Problem& problem, std::uint32_t operand,
                               std::span<const std::uint32_t> dimensions, std::uint32_t step,
                               std::uint64_t count);
/// Lines of memory that a warp meets if its lanes go along the nest, the last dimension fastest, by `step`
/// elements each.
[[nodiscard]] double lines_along(const Problem& problem, std::uint32_t operand, std::uint32_t step);

TMAJIT_END
