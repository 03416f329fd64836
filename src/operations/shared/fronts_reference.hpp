#pragma once

#include "reference/scalar.hpp"

#include <tmajit/tensor.hpp>

#include <functional>
#include <span>
#include <string>

namespace reference {

/// Computes the value that is reduced or scanned from the sources' elements; null: the first source's
/// element.
using FrontFunction = std::function<Scalar(std::span<const Scalar> x)>;

/// Whether front_of() understands an expression. Without `any_rounding` only one that gives a value whose
/// last bit is certain.
[[nodiscard]] bool understands_front(const std::string& expression, bool any_rounding);
/// Of an expression that is understood.
[[nodiscard]] FrontFunction front_of(const std::string& expression);

/// What the result of a sum may be wrong by for the order of its additions, relative to the sum of the
/// values' magnitudes: 0 for integers.
[[nodiscard]] double error_of_sums(const FrontFunction& front, std::span<const tmajit::Tensor> sources);

}  // namespace reference
