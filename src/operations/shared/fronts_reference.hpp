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

/// Whether front_of() understands an expression. `any_rounding`: the last bits of its value may differ from a
/// kernel's.
[[nodiscard]] bool understands_front(const std::string& expression, bool any_rounding);
/// Makes the function of an expression that understands_front() accepts.
[[nodiscard]] FrontFunction front_of(const std::string& expression);

/// The error that the order of additions may cause in a sum, relative to the sum of the values' magnitudes. 0
/// for integers.
[[nodiscard]] double error_of_sums(const FrontFunction& front, std::span<const tmajit::Tensor> sources);

}  // namespace reference
