#pragma once

#include "reference/expression.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reference {

/// The names of a move's sources, where they are numbers: p0 …. Tensors have empty names, since every
/// expression knows x0 ….
[[nodiscard]] std::vector<std::string_view> number_names(const tmajit::Move& move);

/// Whether SourceValues can evaluate an expression of the move. Unless `any_rounding`, its value must also be
/// exact.
[[nodiscard]] bool understands_source_values(const tmajit::Move& move, const std::string& expression,
                                             bool any_rounding);

/// Computes the values that are reduced or scanned: an expression of the sources, or the first source's
/// elements.
class SourceValues {
 public:
  SourceValues(const tmajit::Move& move, const std::string& expression);
  [[nodiscard]] Computed operator()(std::span<const Computed> x) const;

 private:
  std::optional<Expression> expression_;
};

/// A sum of doubles that also adds up the rounding errors of its additions. So the sum of any number of
/// values is correct to a unit in its last place.
class CompensatedSum {
 public:
  void add(double value);
  [[nodiscard]] double value() const;

 private:
  double sum_ = 0;
  double lost_ = 0;     ///< sum of the rounding errors
  bool begun_ = false;  ///< the first value is not added to 0, so that a sum of negative zeros is −0
};

/// The allowed error of a kernel's sum, since kernels add in any order in the values' own type.
class SumError {
 public:
  void add(const Computed& value);
  /// More than 0 for every floating-point sum: whether a sum is +0 or −0 depends on the order of its
  /// additions.
  [[nodiscard]] double error() const;
  /// Number of values that have been added.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::uint64_t count_ = 0;
  bool in_f32_ = false;
  bool in_f64_ = false;
  bool whole_ = true;     ///< all values are whole numbers
  double magnitude_ = 0;  ///< sum of the values' magnitudes
  double errors_ = 0;     ///< sum of the values' own errors
};

}  // namespace reference
