#include "reference/computed.hpp"

#include "reference/expression_functions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <variant>

namespace reference {
namespace {

Scalar divide(const Scalar& a, const Scalar& b) {
  return std::visit(
      [](auto x, auto y) -> Scalar {
        using C = decltype(x + y);
        if constexpr (std::is_integral_v<C>) {
          // Division by zero and overflow are undefined in C++; here they give 0 and the wrapped value.
          const auto divisor = static_cast<C>(y);  // NOLINT(bugprone-signed-char-misuse): a number
          if (divisor == 0) return scalar(C{0});
          if (std::is_signed_v<C> && divisor == static_cast<C>(-1)) return multiply(x, -1);
          return scalar(static_cast<C>(static_cast<C>(x) / divisor));
        } else {
          return scalar(static_cast<C>(x) / static_cast<C>(y));
        }
      },
      a, b);
}

/// The distance from the value to the next one of its type; 0 for integers.
double last_place(const Scalar& value) {
  if (std::holds_alternative<float>(value)) return 0x1p-23 * std::fabs(as_double(value)) + 0x1p-149;
  if (std::holds_alternative<double>(value)) return 0x1p-52 * std::fabs(as_double(value)) + 0x1p-1074;
  return 0;
}

/// The largest change of a function's value if its arguments change by their errors.
template <class F>
double spread(const F& f, const Computed& a, const Computed& b) {
  if (a.error == 0 && b.error == 0) return 0;
  const double x = as_double(a.value);
  const double y = as_double(b.value);
  const double middle = f(x, y);
  double most = 0;
  for (const double dx : {-a.error, a.error}) {
    for (const double dy : {-b.error, b.error}) {
      const double change = std::fabs(f(x + dx, y + dy) - middle);
      most = std::isnan(change) ? std::numeric_limits<double>::infinity() : std::max(most, change);
    }
  }
  return most;
}

/// The value, whose operands give it the error `error`. Adds the error of its own rounding.
Computed rounded(const Scalar& value, double error, double rounding = 0) {
  return {value, is_exact(error) ? error : error + last_place(value), rounding};
}

/// a + b or a − b, whose value is `value`.
Computed sum_with_value(const Computed& a, const Computed& b, const Scalar& value) {
  const bool is_integral = last_place(value) == 0;
  return rounded(value, is_integral ? 0 : a.error + b.error + a.rounding + b.rounding);
}

}  // namespace

Computed sum_of(const Computed& a, const Computed& b) {
  return sum_with_value(a, b, add(a.value, b.value));
}

Computed difference_of(const Computed& a, const Computed& b) {
  return sum_with_value(a, b, subtract(a.value, b.value));
}

Computed product_of(const Computed& a, const Computed& b) {
  const Scalar value = multiply(a.value, b.value);
  double rounding = 0;
  if (std::holds_alternative<float>(value)) {
    const auto factor = [](const Scalar& operand) {
      return static_cast<double>(static_cast<float>(as_double(operand)));
    };
    rounding = std::fabs(factor(a.value) * factor(b.value) - as_double(value));
  } else if (std::holds_alternative<double>(value)) {
    rounding = std::fabs(std::fma(as_double(a.value), as_double(b.value), -as_double(value)));
  }
  if (std::isnan(rounding)) rounding = 0;  // infinities do not round
  // A negated product can still be contracted to an FMA.
  if (std::fabs(as_double(b.value)) == 1) rounding += a.rounding;
  if (std::fabs(as_double(a.value)) == 1) rounding += b.rounding;
  double error = spread(std::multiplies<double>(), a, b);
  // A factor whose error allows both signs decides the sign of a zero.
  const auto has_either_sign = [](const Computed& x) {
    return x.error > 0 && std::fabs(as_double(x.value)) <= x.error;
  };
  if (error == 0 && as_double(value) == 0 && (has_either_sign(a) || has_either_sign(b))) error = either_zero;
  return rounded(value, error, rounding);
}

Computed quotient_of(const Computed& a, const Computed& b) {
  return rounded(divide(a.value, b.value), spread(std::divides<double>(), a, b));
}

Computed comparison_of(std::size_t relation, const Computed& a, const Computed& b) {
  const bool is_true = std::visit(
      [relation](auto x, auto y) {
        using C = decltype(x + y);
        const auto left = static_cast<C>(x);   // NOLINT(bugprone-signed-char-misuse): a number
        const auto right = static_cast<C>(y);  // NOLINT(bugprone-signed-char-misuse): a number
        switch (relation) {
          case 0: return left == right;
          case 1: return left != right;
          case 2: return left <= right;
          case 3: return left >= right;
          case 4: return left < right;
          default: return left > right;
        }
      },
      a.value, b.value);
  const double error = a.error + b.error;
  const bool is_certain = is_exact(error) || std::fabs(as_double(a.value) - as_double(b.value)) > error;
  return {scalar(is_true), is_certain ? 0.0 : 1.0};
}

Computed selected(const Computed& condition, const Computed& a, const Computed& b) {
  const bool is_true = as_double(condition.value) != 0;
  const Scalar value = std::visit(
      [is_true](auto x, auto y) {
        using C = decltype(is_true ? x : y);
        return scalar(is_true ? static_cast<C>(x) : static_cast<C>(y));
      },
      a.value, b.value);
  if (condition.error == 0) return {value, is_true ? a.error : b.error};
  return {value, std::fabs(as_double(a.value) - as_double(b.value)) + a.error + b.error};
}

Scalar stored(tmajit::ElementType type, const Scalar& value) {
  std::array<std::byte, 8> bytes{};
  encode(type, value, bytes.data());
  return decode(type, bytes.data());
}

Computed call(const MathFunction& function, std::span<const Computed> arguments) {
  const bool in_f32 = function.in_f32 || std::ranges::all_of(arguments, [](const Computed& one) {
                        return std::holds_alternative<float>(one.value);
                      });
  // A function of floats rounds its arguments to float first.
  const auto argument = [&](std::size_t i) -> Computed {
    if (i >= arguments.size()) return 0.0;
    const double value = as_double(arguments[i].value);
    return {in_f32 ? static_cast<double>(static_cast<float>(value)) : value, arguments[i].error};
  };
  const Computed a = argument(0);
  const Computed b = argument(1);
  const double exact = function.compute(as_double(a.value), as_double(b.value));
  const Scalar result = in_f32 ? Scalar(static_cast<float>(exact)) : Scalar(exact);
  const double units = function.units + function.per_argument * std::fabs(as_double(a.value));
  const double error =
      spread(function.compute, a, b) + (units > 0 ? units * last_place(result) : 0) + function.absolute;
  return rounded(result, error);
}

double stored_error(tmajit::ElementType type, const Computed& computed) {
  if (is_exact(computed.error)) return computed.error;
  const double value = as_double(computed.value);
  const double middle = as_double(stored(type, computed.value));
  const double above = as_double(stored(type, value + computed.error));
  const double below = as_double(stored(type, value - computed.error));
  // Values of both signs may be stored as zeros.
  const double least = std::signbit(above) == std::signbit(below) ? 0 : either_zero;
  return std::max({std::fabs(above - middle), std::fabs(below - middle), least});
}

}  // namespace reference
