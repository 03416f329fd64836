#pragma once

#include "operations/drawing/random_case.hpp"

namespace reference {

/// Where the elements of an indexed operation come from and go to.
enum class DrawnUse : std::uint8_t {
  gather,
  scatter,      ///< each element is stored once, so that the result does not depend on an order
  scatter_add,  ///< both tensors have one type
  gather_sum,   ///< the tensors may have any types, and there may be weights
};

/// Draws a gather, a scatter, a scatter_add or a gather_sum: shapes, views, indices and arguments.
void draw_indexed_case(TestCaseDraw& draw, DrawnUse use);

}  // namespace reference
