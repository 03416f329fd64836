#pragma once

#include "case.hpp"

#include <vector>

namespace bench {

/// Stencils: those of few points of a large tensor, which must come near the driver's copy, and those that
/// other boundaries, types, layouts and reaches make. `tiny`: of a few elements, to test the benchmark
/// itself.
std::vector<Case> stencil_cases(bool tiny);

}  // namespace bench
