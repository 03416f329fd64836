#pragma once

#include "operations/drawing/random_case.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace reference {

/// An expression whose values are reduced or scanned.
struct ValueExpression {
  const char* text;
  std::size_t source_count;
};

/// Adds `count` sources of `shape` to a reduction or a scan. In a third of the cases they are dense and begin
/// at any element.
inline void draw_values(TestCaseDraw& draw, const Shape& shape, std::size_t count) {
  const tmajit::ElementType type = draw.any_type();
  const bool is_dense = one_in(draw.kernel_property_random, 3);
  for (std::size_t s = 0; s < count; ++s) {
    const tmajit::ElementType other = one_in(draw.kernel_property_random, 3) ? draw.any_type() : type;
    tmajit::TensorView view = draw.view(other, shape, true);
    if (is_dense) view = tmajit::TensorView::contiguous(other, shape);
    draw.add_source(view);
    if (!is_dense) continue;
    const std::uint64_t shift = between(draw.launch_parameter_random, 0, 20) * size_of(other);
    draw.test_case.sources.back().offset += shift;
    draw.test_case.buffers.back() += shift;
  }
}

}  // namespace reference
