#pragma once

#include "case.hpp"

#include <vector>

namespace bench {

/// What kernels are for whose CTAs work together: tables that repeat along the destination's first dimension,
/// which L2 holds, so that several CTAs want them at the same time; and runs of 16 to 256 bytes whose
/// neighbours differ, 256 MiB of them. `tiny`: of a few elements, to test the benchmark itself.
std::vector<Case> cluster_cases(bool tiny);

}  // namespace bench
