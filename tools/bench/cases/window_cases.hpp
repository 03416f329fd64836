#pragma once

#include "case.hpp"

#include <vector>

namespace bench {

/// Windows of images, gathered to the rows of a matrix, and convolutions. `tiny`: of a few elements, to test
/// the benchmark itself.
std::vector<Case> window_cases(bool tiny);

}  // namespace bench
