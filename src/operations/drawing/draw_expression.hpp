#pragma once

#include "operations/drawing/random_case.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace reference {

/// An expression of `sources` sources. It adds nothing to a product, so that all kernels round it the same
/// way, with or without an fma. It may read the coordinates of a destination of rank `rank`.
[[nodiscard]] std::string draw_expression(TestCaseDraw& draw, std::uint64_t sources, std::size_t rank);

}  // namespace reference
