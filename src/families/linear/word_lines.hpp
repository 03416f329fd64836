#pragma once

#include "families/linear/linear_facts.hpp"
#include "kernel/problem.hpp"

#include <optional>
#include <vector>

TMAJIT_BEGIN

// Moves between a contiguous tensor whose last dimension is short, and lines of the other tensor: each
// element of that dimension is in another line (templates/kernels/word_lines.cuh).

/// The sides of such a move.
struct LineSides {
  std::uint32_t contiguous = 0;  ///< operand that is one flat dimension
  std::uint32_t lined = 1;       ///< operand that has the lines
  PerDimension order{};  ///< dimensions in the order of the contiguous operand's memory, the fastest last
};

/// The sides if the destination (`scatters` false) or the source (true) is the contiguous operand; nothing if
/// the problem is no such move.
[[nodiscard]] std::optional<LineSides> line_sides(const Problem& problem, bool scatters);
/// The sides of a problem for which there are facts with lines.
[[nodiscard]] LineSides sides_of(const Problem& problem, const LinearFacts& facts);
/// The facts of all kernels that can do such a move, the preferred one first. If both operands could be the
/// contiguous one, it is the destination.
[[nodiscard]] std::vector<LinearFacts> line_facts(const Problem& problem);

/// Whether an operand is one flat dimension, if its dimensions are taken in this order.
[[nodiscard]] bool is_contiguous(const CanonicalNest& nest, std::uint32_t operand,
                                 const PerDimension& order) noexcept;
/// Whether an operand's offsets, in elements, need more than 32 bits.
[[nodiscard]] bool needs_wide_offsets(const CanonicalNest& nest, std::uint32_t operand) noexcept;
/// Memory lines that an access of a warp touches: its lanes take neighbouring words.
[[nodiscard]] double lines_of_access(const Problem& problem, std::uint32_t operand, const LinearFacts& facts);
/// Shared memory in which the warps of a CTA exchange their words, in bytes.
[[nodiscard]] std::uint32_t image_bytes(const LinearFacts& facts);

TMAJIT_END
