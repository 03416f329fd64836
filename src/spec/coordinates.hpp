#pragma once

#include "spec/violations.hpp"

#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

/// Adds rule "expression.coordinate" for the first number in `g[…]` or `t[…]` of an expression that is not
/// below `rank`, the number of the destination's dimensions. Only numbers that are written out are seen.
/// `subject` and `source` are the violation's.
void check_coordinates(std::string_view expression, std::uint32_t rank, std::string_view subject,
                       std::string_view source, Violations& violations);

TMAJIT_END
