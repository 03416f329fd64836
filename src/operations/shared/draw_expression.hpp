#pragma once

#include "operations/shared/random_case.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace reference {

/// An expression of that many sources that all kernels round alike: no product is added to something. It may
/// read the coordinates of a destination of that rank.
[[nodiscard]] std::string draw_expression(CaseDraw& draw, std::uint64_t sources, std::size_t rank);

}  // namespace reference
