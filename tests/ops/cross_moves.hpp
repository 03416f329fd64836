#pragma once

#include "ops/every_candidate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tests {

/// A move whose sources have another order of dimensions in memory than the destination. Sources may have
/// gaps and flipped dimensions; if there are several, also dimensions of stride 0.
struct CrossMove {
  MoveOperand destination;
  std::vector<MoveOperand> sources;
  std::string expression = {};
  std::optional<tmajit::Padding> padding = std::nullopt;

  [[nodiscard]] std::string text() const;
};

/// A pad. In some dimensions the source begins before or after the destination, or ends before or after it.
[[nodiscard]] CrossMove random_cross_pad(std::uint64_t seed, std::uint64_t max_elements = 12'000);
/// A cast between two random types.
[[nodiscard]] CrossMove random_cross_cast(std::uint64_t seed, std::uint64_t max_elements = 12'000);
/// A map that adds one to three sources of mixed types.
[[nodiscard]] CrossMove random_cross_map(std::uint64_t seed, std::uint64_t max_elements = 12'000);

}  // namespace tests
