#pragma once

#include "reference/moves.hpp"

#include <tmajit/tensor_view.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace reference {

/// A move that clusters may do: strides of sources are multiples of 16 bytes, for tensor maps.
struct ClusterMove {
  tmajit::TensorView destination;
  std::vector<tmajit::TensorView> sources;
  std::string expression = {};  ///< empty: bits of one
  MoveFunction function = {};   ///< what it computes
};

/// One to three sources of any types, at least one of which repeats along a dimension that is not the last;
/// rows of the destination may begin anywhere.
[[nodiscard]] ClusterMove random_repetition(std::uint64_t seed, std::uint64_t most_elements);

}  // namespace reference
