#pragma once

#include "reference/scalar.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace reference {

/// An expression over sources, of arithmetic and functions: numbers, + - * /, brackets, calls such as exp(x),
/// and sources x, x0 … x7, called with offsets or not.
class Expression {
 public:
  /// None for anything else: an unknown function, a condition, g.
  [[nodiscard]] static std::optional<Expression> parse(std::string_view text);

  using Neighbour = std::function<Scalar(std::uint32_t source, std::span<const std::int64_t> offsets)>;
  /// In the types of C++. Functions are computed in double, and rounded to float where CUDA's give float.
  [[nodiscard]] Scalar evaluate(const Neighbour& neighbour) const;
  /// Of one element of each source.
  [[nodiscard]] Scalar evaluate(std::span<const Scalar> x) const;
  /// Offsets of a call, 0 if there is none.
  [[nodiscard]] std::size_t offsets() const noexcept { return offsets_; }
  /// Whether it computes nothing or one sum, difference, product or quotient, which is rounded once: no order
  /// of roundings, no contraction, no approximate function.
  [[nodiscard]] bool rounds_once() const noexcept;

 private:
  friend class ExpressionParser;
  struct Step {
    enum class Kind : std::uint8_t { number, neighbour, add, multiply, divide, call } kind;
    Scalar number = 0;
    std::uint32_t source = 0;
    std::vector<std::int64_t> offsets = {};
    std::size_t function = 0;  ///< call: of the table of functions
  };
  std::vector<Step> steps_;  ///< in postfix order
  std::size_t offsets_ = 0;
};

}  // namespace reference
