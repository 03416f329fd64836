#pragma once

#include "ops/every_candidate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tests {

/// A move of sources whose memory runs along other dimensions than the destination's, in any order, with
/// gaps, flipped, or, of several sources, repeated.
struct CrossMove {
  MoveOperand destination;
  std::vector<MoveOperand> sources;
  std::string expression = {};
  std::optional<tmajit::Padding> padding = std::nullopt;

  [[nodiscard]] std::string text() const;
};

/// A source that reaches beyond the destination's ends, or not as far, in some dimensions.
[[nodiscard]] CrossMove random_cross_pad(std::uint64_t seed, std::uint64_t most_elements = 12'000);
/// From any type to any.
[[nodiscard]] CrossMove random_cross_cast(std::uint64_t seed, std::uint64_t most_elements = 12'000);
/// The sum of one to three sources, of mixed types.
[[nodiscard]] CrossMove random_cross_map(std::uint64_t seed, std::uint64_t most_elements = 12'000);

}  // namespace tests
