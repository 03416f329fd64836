#pragma once

#include "case.hpp"

#include <vector>

namespace bench {

/// Cases for kernels whose CTAs work together: tables that repeat along the destination's first dimension.
/// L2 holds the tables, and several CTAs want them at the same time. `tiny`: tables of a few elements, which
/// test the benchmark itself.
std::vector<Case> cluster_cases(bool tiny);

}  // namespace bench
