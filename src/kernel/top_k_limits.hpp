#pragma once

#include <tmajit/version.hpp>

#include <cstdint>

TMAJIT_BEGIN

// Limits of top_k. Its kernel sorts the results of a row in shared memory, and counts rows and the elements
// of one row by 31-bit numbers.

inline constexpr std::uint64_t max_top_k = 2048;
inline constexpr std::uint64_t max_top_k_length = (std::uint64_t{1} << 31) - 1;
inline constexpr std::uint64_t max_top_k_rows = (std::uint64_t{1} << 31) - 1;

TMAJIT_END
