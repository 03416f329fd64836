#pragma once

#include "reference/moves.hpp"
#include "reference/random_maps.hpp"

#include <cstdint>
#include <string>

namespace reference {

/// An expression's text and what it computes. All round at most once, so that it does not matter whether a
/// compiler contracts them.
struct MoveExpression {
  std::string text;
  MoveFunction function;
};

/// One for `sources` sources and a destination of `rank` dimensions.
[[nodiscard]] MoveExpression random_expression(Random& random, std::uint64_t sources, std::uint64_t rank);

}  // namespace reference
