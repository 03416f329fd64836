#pragma once

#include "reference/computed.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace reference {

/// An expression over sources: numbers, + - * /, comparisons, ?:, brackets, casts such as (float)x, calls
/// such as exp(x), sources x, x0 … x7 with or without offsets, and coordinates that are cast, as in
/// int(g[0]).
class Expression {
 public:
  /// nullopt for any other text, such as an unknown function, or a coordinate without a cast. The text may
  /// use names[k] for source k.
  [[nodiscard]] static std::optional<Expression> parse(std::string_view text,
                                                       std::span<const std::string_view> names = {});

  using Neighbour = std::function<Computed(std::uint32_t source, std::span<const std::int64_t> offsets)>;
  /// Computes the value with C++'s types. Functions compute in double; their result is rounded to float if
  /// the CUDA function returns float. The error allows for contracted multiplications and for inexact
  /// functions.
  [[nodiscard]] Computed evaluate(const Neighbour& neighbour, std::span<const std::uint64_t> g = {}) const;
  /// evaluate() for expressions without offsets; x[i] is the element of source i.
  [[nodiscard]] Computed evaluate(std::span<const Computed> x, std::span<const std::uint64_t> g = {}) const;
  /// The numbers of the sources that the expression reads.
  [[nodiscard]] std::vector<std::uint32_t> sources() const;
  /// The largest number of offsets of a call; 0 without calls.
  [[nodiscard]] std::size_t offsets() const noexcept { return offsets_; }
  /// Whether a kernel computes the same bits as evaluate(), whatever the elements: no multiplication can be
  /// contracted, and each function is exact.
  [[nodiscard]] bool is_exact() const;

 private:
  friend class ExpressionParser;
  struct Step {
    enum class Kind : std::uint8_t {
      number,
      neighbour,
      coordinate,
      cast,
      add,
      subtract,
      multiply,
      divide,
      compare,
      select,
      call
    } kind;
    Scalar number = 0;
    std::uint32_t source = 0;  ///< number of the source, or the coordinate's dimension
    std::vector<std::int64_t> offsets = {};
    std::size_t function = 0;  ///< call, compare, cast: index into the table of functions, relations or types
  };
  std::vector<Step> steps_;  ///< in postfix order
  std::size_t offsets_ = 0;
};

}  // namespace reference
