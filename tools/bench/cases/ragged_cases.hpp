#pragma once

#include "case.hpp"

#include <vector>

namespace bench {

/// Batches of tensors of different sizes, 256 MiB each, copied in one launch. `tiny`: of a few elements, to
/// test the benchmark itself.
std::vector<Case> ragged_cases(bool tiny);

}  // namespace bench
