#pragma once

#include "families/linear/linear_facts.hpp"
#include "kernel/problem.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

// Moves with a short dimension whose elements are neighbours in one tensor, and in different lines of the
// other (templates/kernels/word_lines.cuh, word_runs.cuh).

/// The operands of such a move.
struct LineSides {
  std::uint32_t contiguous = 0;  ///< operand that is one flat dimension
  std::uint32_t strided = 1;     ///< operand whose offsets a thread computes
  /// The dimensions in the order of the contiguous operand's memory, the fastest last, but the short one
  /// after all others.
  PerDimension order{};
};

/// The sides of a move of this kind; nothing if the problem is no such move.
[[nodiscard]] std::optional<LineSides> line_sides(const Problem& problem, LineMove kind);
/// The sides of a problem for which there are facts with lines.
[[nodiscard]] LineSides sides_of(const Problem& problem, const LinearFacts& facts);
/// The facts of all kernels that can do such a move, the preferred one first. They are of the first kind that
/// suits the problem.
[[nodiscard]] std::vector<LinearFacts> line_facts(const Problem& problem);

/// Whether an operand is one flat dimension, if its dimensions are taken in this order.
[[nodiscard]] bool is_contiguous(const CanonicalNest& nest, std::uint32_t operand,
                                 const PerDimension& order) noexcept;
/// Whether an operand's offsets, in elements, need more than 32 bits.
[[nodiscard]] bool needs_wide_offsets(const CanonicalNest& nest, std::uint32_t operand) noexcept;
/// Memory lines of an operand that an access of a warp touches: its lanes take neighbouring words.
[[nodiscard]] double lines_of_access(const Problem& problem, std::uint32_t operand, const LinearFacts& facts);
/// Shared memory in which the warps of a CTA exchange their words, in bytes; 0 for LineMove::spread.
[[nodiscard]] std::uint32_t image_bytes(const LinearFacts& facts);

// Parts of the kernels' sources and descriptions.
[[nodiscard]] std::string_view function_of_lines(const LinearFacts& facts) noexcept;
[[nodiscard]] std::string line_fact_text(const LinearFacts& facts);
[[nodiscard]] std::string why_lines(const LinearFacts& facts);

TMAJIT_END
