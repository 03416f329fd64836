#pragma once

#include "kernel/family.hpp"

#include <cstddef>
#include <vector>

TMAJIT_BEGIN

/// Predicts a candidate's time by arithmetic alone, with errors of some ten per cent (docs/model.md;
/// docs/measurements.md has the measurements behind the numbers).
[[nodiscard]] Prediction predict(const Candidate& candidate, const Problem& problem, const Chip& chip);

/// A chosen candidate's index, and its predicted time.
struct Chosen {
  std::size_t candidate = 0;
  Prediction predicted;
};
/// Chooses a candidate: the default one, unless the model predicts another to be clearly faster.
[[nodiscard]] Chosen choose(const std::vector<Candidate>& candidates, const Problem& problem,
                            const Chip& chip);

/// The index of the default candidate (Candidate::default_choice).
[[nodiscard]] std::size_t default_of(const std::vector<Candidate>& candidates) noexcept;

TMAJIT_END
