#pragma once

#include "spec/violations.hpp"

#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

/// Adds a violation of "expression.coordinate" for the first `g[…]` or `t[…]` of an expression whose index is
/// not below `rank`, the number of the destination's dimensions. Only literal indices are checked. `subject`
/// and `source` are the violation's.
void check_coordinates(std::string_view expression, std::uint32_t rank, std::string_view subject,
                       std::string_view source, Violations& violations);

TMAJIT_END
