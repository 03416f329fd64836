#pragma once

#include "kernel/family.hpp"

#include <cstddef>
#include <vector>

TMAJIT_BEGIN

/// How long a candidate takes, from nothing but arithmetic. Right to some ten per cent; good enough
/// to choose by (docs/measurements.md has the measurements behind the numbers).
[[nodiscard]] Prediction predict(const Candidate& candidate, const Problem& problem, const Chip& chip);

/// A candidate by its index, and how long it takes.
struct Chosen {
  std::size_t candidate = 0;
  Prediction predicted;
};
/// The candidate to take: the usual one, unless the model finds another clearly faster.
[[nodiscard]] Chosen choose(const std::vector<Candidate>& candidates, const Problem& problem,
                            const Chip& chip);

/// The index of the candidate that suits most problems of the kind.
[[nodiscard]] std::size_t usual_of(const std::vector<Candidate>& candidates) noexcept;

TMAJIT_END
