#pragma once

#include "ops/every_candidate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tests {

/// A move of sources whose dimensions have another order in memory than the destination's. They may have gaps
/// and be flipped; several sources may also be repeated.
struct CrossMove {
  MoveOperand destination;
  std::vector<MoveOperand> sources;
  std::string expression = {};
  std::optional<tmajit::Padding> padding = std::nullopt;

  [[nodiscard]] std::string text() const;
};

/// A pad. In some dimensions the source begins before or after the destination, or ends before or after it.
[[nodiscard]] CrossMove random_cross_pad(std::uint64_t seed, std::uint64_t most_elements = 12'000);
/// A cast from any type to any.
[[nodiscard]] CrossMove random_cross_cast(std::uint64_t seed, std::uint64_t most_elements = 12'000);
/// A map that adds one to three sources of mixed types.
[[nodiscard]] CrossMove random_cross_map(std::uint64_t seed, std::uint64_t most_elements = 12'000);

}  // namespace tests
