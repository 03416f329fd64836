#pragma once

#include "case.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

struct RandomOptions {
  std::size_t count = 0;  ///< of each kind of move and element type
  std::uint64_t seed = 1;
  bool tiny = false;  ///< tensors of up to 4096 elements, to test the benchmark itself
};

/// `count` permutations of each of f32, bf16 and u8 that nobody tabulated: ranks 2 to 6, extents that are
/// powers of two, small multiples of them, hundreds, odd or prime, 8 to 256 Mi elements. The same options
/// give the same list on every machine.
std::vector<Case> random_permutations(const RandomOptions& options);

}  // namespace bench
