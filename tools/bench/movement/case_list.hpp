#pragma once

#include "case.hpp"

#include <cstdint>
#include <vector>

namespace movement {

struct ListOptions {
  std::uint64_t seed = 1;  ///< of the random permutations
  bool tiny = false;       ///< the same moves of a few elements, to test the benchmark itself
};

/// Everything that is measured, the most important first: the one list of cases, which the Python side reads
/// through the library.
std::vector<Case> list_cases(const ListOptions& options);

}  // namespace movement
