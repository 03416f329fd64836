#pragma once

#include "case.hpp"
#include "random_cases.hpp"

#include <vector>

namespace bench {

/// Cumulative sums of random shapes, ranks 1 to 4 and 2^16 to 2^27 elements, along random axes: of f32, bf16,
/// f64, and of u8 and i32 as i64. With no count one row, rows and columns, long and short.
[[nodiscard]] std::vector<Case> scans(const RandomOptions& options);

}  // namespace bench
