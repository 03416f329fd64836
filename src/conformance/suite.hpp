#pragma once

#include "conformance/case.hpp"

#include <vector>

namespace conformance {

/// Every case, those of one subject together. Names are unique.
[[nodiscard]] const std::vector<Case>& all_cases();

}  // namespace conformance
