#pragma once

#include "reference/expression.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace reference {

/// Whether Front understands an expression. `any_rounding`: a kernel's value may be another.
[[nodiscard]] bool understands_front(const std::string& expression, bool any_rounding);

/// The expression of what is reduced or scanned; none: the first source's element.
class Front {
 public:
  explicit Front(const std::string& expression);
  [[nodiscard]] Computed operator()(std::span<const Computed> x) const;

 private:
  std::optional<Expression> expression_;
};

/// Doubles added one after the other, and what each addition lost to rounding: the sum of any count of values
/// is right to a unit in its last place.
class CompensatedSum {
 public:
  void add(double value);
  [[nodiscard]] double value() const;

 private:
  double sum_ = 0;
  double lost_ = 0;
  bool begun_ = false;  ///< a sum of negative zeros alone is one
};

/// How far a kernel's sum may lie from the exact one, which adds in any order in the values' own type.
class SumError {
 public:
  void add(const Computed& value);
  /// More than 0 for every floating-point sum: the order of additions decides which zero a sum is.
  [[nodiscard]] double error() const;
  /// How many values have been added.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::uint64_t count_ = 0;
  bool in_f32_ = false;
  bool in_f64_ = false;
  bool whole_ = true;     ///< all are whole numbers
  double magnitude_ = 0;  ///< the sum of their absolute values
  double errors_ = 0;     ///< sum of the values' own errors
};

}  // namespace reference
