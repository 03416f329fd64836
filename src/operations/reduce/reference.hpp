#pragma once

#include "operations/shared/source_values_reference.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <optional>

namespace reference {

/// Reduces elements that are added one by one, in any order. Floating-point sums accumulate as doubles and
/// are rounded once; sums of integers wrap at 64 bits.
class Reducer {
 public:
  explicit Reducer(tmajit::ReductionOp op) : op_(op) {}
  /// `position` is the element's index among those that are reduced to this result.
  void add(const Computed& value, std::uint64_t position);
  /// The result of at least one element.
  [[nodiscard]] Computed result() const;

 private:
  void add_extreme(const Scalar& value, std::uint64_t position, bool is_min);

  tmajit::ReductionOp op_;
  std::optional<Scalar> state_;
  CompensatedSum sum_;  ///< used for floating point
  std::uint64_t position_ = 0;
  SumError error_;
  double largest_error_ = either_zero;  ///< of the elements: an extreme is as wrong as the most wrong element
  bool in_f32_ = false;                 ///< elements are added as f32
};

}  // namespace reference
