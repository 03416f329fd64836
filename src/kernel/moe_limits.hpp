#pragma once

#include "spec/saturate.hpp"

#include <algorithm>
#include <cstdint>

TMAJIT_BEGIN

// Limits of moe_permute. Its kernel keeps two numbers of each expert, and the rows of a round's slots, in
// shared memory. It counts rows, and the elements of one row, by 32-bit numbers.

inline constexpr std::uint64_t max_moe_experts = 4096;
inline constexpr std::uint64_t max_moe_slots = 1024;
inline constexpr std::uint64_t max_moe_alignment = std::uint64_t{1} << 30;
inline constexpr std::uint64_t max_moe_rows = (std::uint64_t{1} << 31) - 1;
inline constexpr std::uint64_t max_moe_row_elements = std::uint64_t{1} << 30;

/// The most rows, with padding, that so many pairs of a token and a slot need: a multiple of the alignment.
[[nodiscard]] constexpr std::uint64_t moe_rows(std::uint64_t pairs, std::uint64_t experts,
                                               std::uint64_t alignment) noexcept {
  const std::uint64_t used = std::min(pairs, experts);
  return round_up(sat_add(pairs, sat_mul(used, alignment - 1)), alignment);
}

TMAJIT_END
