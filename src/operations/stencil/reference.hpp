#pragma once

#include "reference/expression.hpp"
#include "reference/walk.hpp"

#include <tmajit/operations/stencil.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace reference {

/// The index of the element that a neighbour at `at` of `extent` is; none if it is none.
[[nodiscard]] std::optional<std::int64_t> neighbour_index(std::int64_t at, std::int64_t extent,
                                                          tmajit::Boundary boundary);

/// Writes a part of the result of a stencil. Tensors are in host memory: `address` is a host pointer. Sources
/// have the destination's shape.
void stencil(const tmajit::Tensor& destination, const Expression& expression,
             std::span<const tmajit::Tensor> sources, const tmajit::Stencil& stencil, const Part& part);

}  // namespace reference
