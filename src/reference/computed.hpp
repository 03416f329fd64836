#pragma once

#include "reference/scalar.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace reference {

struct MathFunction;

/// A value that the host has computed, and the allowed error of a kernel's value.
struct Computed {
  Computed() = default;
  template <class Value>
  requires(std::is_convertible_v<Value, Scalar>) Computed(const Value& exact, double allowed = 0,
                                                          double rounded = 0)  // NOLINT: any value is exact
      : value(exact), error(allowed), rounding(rounded) {}
  Scalar value = 0;
  double error = 0;
  /// The rounding error of the multiplication that made the value. A kernel that contracts this
  /// multiplication and an addition to an FMA does not have it.
  double rounding = 0;
};

/// The error of a value that is exact except for the sign of zero. All other errors are far larger.
inline constexpr double either_zero = 0x1p-1074;
[[nodiscard]] constexpr bool is_exact(double error) noexcept {
  return error < 0x1p-1000;
}

/// The allowed error of an element of `type` in which a kernel stores the value.
[[nodiscard]] double stored_error(tmajit::ElementType type, const Computed& computed);

/// The value after it was stored as an element of `type`.
[[nodiscard]] Scalar stored(tmajit::ElementType type, const Scalar& value);

// The operations of expressions, by C++'s rules, with the errors of their results.

[[nodiscard]] Computed sum_of(const Computed& a, const Computed& b);
[[nodiscard]] Computed difference_of(const Computed& a, const Computed& b);
[[nodiscard]] Computed product_of(const Computed& a, const Computed& b);
/// Integers divided by zero give 0, and quotients that overflow wrap.
[[nodiscard]] Computed quotient_of(const Computed& a, const Computed& b);

/// The relations of comparisons. Relations of two characters come first, so that the parser finds "<=" before
/// "<".
inline constexpr std::array<std::string_view, 6> relations{"==", "!=", "<=", ">=", "<", ">"};
/// Whether relations[relation] holds, as C++'s int.
[[nodiscard]] Computed comparison_of(std::size_t relation, const Computed& a, const Computed& b);
/// condition ? a : b
[[nodiscard]] Computed selected(const Computed& condition, const Computed& a, const Computed& b);
/// The value of a function of one or two arguments.
[[nodiscard]] Computed call(const MathFunction& function, std::span<const Computed> arguments);

}  // namespace reference
