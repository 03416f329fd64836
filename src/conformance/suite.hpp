#pragma once

#include "conformance/case.hpp"

#include <vector>

namespace conformance {

/// All cases, grouped by subject. Names are unique.
[[nodiscard]] const std::vector<Case>& all_cases();

}  // namespace conformance
