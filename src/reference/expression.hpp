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
  /// Empty for anything else: an unknown function, a condition, g.
  [[nodiscard]] static std::optional<Expression> parse(std::string_view text);

  using Neighbour = std::function<Scalar(std::uint32_t source, std::span<const std::int64_t> offsets)>;
  /// Computes the value with C++'s types. Functions compute in double; the result is rounded to float if
  /// CUDA's function returns float.
  [[nodiscard]] Scalar evaluate(const Neighbour& neighbour) const;
  /// The same for a call without offsets; x[i] is the element of source i.
  [[nodiscard]] Scalar evaluate(std::span<const Scalar> x) const;
  /// The largest number of offsets of a call; 0 without calls.
  [[nodiscard]] std::size_t offsets() const noexcept { return offsets_; }
  /// Whether it has at most one addition, subtraction, multiplication or division, and no function. A kernel
  /// then computes the same bits: nothing can be contracted or reordered.
  [[nodiscard]] bool rounds_once() const noexcept;

 private:
  friend class ExpressionParser;
  struct Step {
    enum class Kind : std::uint8_t { number, neighbour, add, multiply, divide, call } kind;
    Scalar number = 0;
    std::uint32_t source = 0;
    std::vector<std::int64_t> offsets = {};
    std::size_t function = 0;  ///< call: index into the table of functions
  };
  std::vector<Step> steps_;  ///< in postfix order
  std::size_t offsets_ = 0;
};

}  // namespace reference
