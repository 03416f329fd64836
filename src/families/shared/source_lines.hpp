#pragma once

#include "kernel/facts_text.hpp"
#include "kernel/problem.hpp"

#include <cstdint>

TMAJIT_BEGIN

/// Whether the problem moves bits, less than 16 bytes at a time, to rows of the destination's memory, and
/// lines of the source may be loaded with what lies between its elements.
[[nodiscard]] bool takes_lines(const Problem& problem) noexcept;
/// Whether a line of the source, of `span` elements, can go on in dimension `d`, of which a tile has `box`
/// indices: what it skips is little, and, if it runs backwards, the tile takes all of it.
[[nodiscard]] bool joins_line(const Problem& problem, std::uint32_t d, std::uint64_t box,
                              std::uint64_t span) noexcept;
/// Bytes, at most 16, that every line's first is a multiple of: lines of a tile `box` that span the last
/// `dimensions` of `order`.
[[nodiscard]] std::uint32_t line_alignment(const Problem& problem, const PerDimension& box,
                                           const PerDimension& order, std::uint32_t dimensions) noexcept;

TMAJIT_END
