#pragma once

#include "plan/move_kernel.hpp"

#include <cstdint>
#include <string>

TMAJIT_BEGIN

/// `block_index()` of kernels whose threads store what they transposed, and how many `blocks` a tile has.
/// Threads that follow each other first share out `together` blocks of a line (as many as divide it), then
/// lie along the row, where their stores join.
[[nodiscard]] std::string block_function(const MoveKernel& kernel, std::uint32_t together);

TMAJIT_END
