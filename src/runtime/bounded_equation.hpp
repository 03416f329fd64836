#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <span>

TMAJIT_BEGIN

/// coefficient · x for any whole x from 0 to `most`.
struct BoundedTerm {
  std::uint64_t coefficient = 0;
  std::uint64_t most = 0;
};

enum class Solvable : std::uint8_t {
  no,
  yes,
  undecided,  ///< the search would have taken too long
};

/// Terms that solvable() takes.
inline constexpr std::size_t max_bounded_terms = 32;

/// Whether some values of the terms add up to `target`: what asks whether two walks over memory meet. The
/// largest sum must be below 2^63. The problem is NP-complete; strides of real tensors are decided in a few
/// steps, and the search ends undecided after `most_steps`. Changes `terms`.
[[nodiscard]] Solvable solvable(std::span<BoundedTerm> terms, std::uint64_t target,
                                std::uint32_t most_steps = 10'000) noexcept;

TMAJIT_END
