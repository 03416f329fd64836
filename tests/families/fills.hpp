#pragma once

#include "reference/random_maps.hpp"

#include <tmajit/move.hpp>
#include <tmajit/runtime.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tests {

/// What memory holds where nothing is written.
inline constexpr std::byte poison{0xA5};

/// A destination with gaps, in any order, perhaps walked backwards, and what is written there:
/// constant + Σ factors[d] · g[d].
struct RandomFill {
  tmajit::TensorView view;
  std::vector<std::int32_t> factors;
  std::int32_t constant = 0;
  std::uint64_t shift = 0;  ///< elements that the lowest one lies behind a boundary of 256 bytes

  [[nodiscard]] std::string expression() const;
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] RandomFill random_fill(reference::Random& random, std::uint64_t most_elements);

/// Runs it by every candidate between poisoned bytes. Says what is wrong first; empty where all is right.
[[nodiscard]] std::string run_fill(tmajit::Runtime& runtime, const RandomFill& fill);

}  // namespace tests
