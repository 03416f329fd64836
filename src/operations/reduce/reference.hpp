#pragma once

#include "operations/shared/fronts_reference.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <optional>

namespace reference {

/// Reduces elements that are added one by one, in any order. Sums of floating point are added as
/// doubles and rounded once; sums of integers wrap at 64 bits.
class Reducer {
 public:
  explicit Reducer(tmajit::ReductionOp op) : op_(op) {}
  /// `place` is the element's among those that come together.
  void add(const Computed& value, std::uint64_t place);
  /// The result of at least one element.
  [[nodiscard]] Computed result() const;

 private:
  void add_extreme(const Scalar& value, std::uint64_t place, bool least);

  tmajit::ReductionOp op_;
  std::optional<Scalar> kept_;
  CompensatedSum sum_;  ///< of floating point
  std::uint64_t place_ = 0;
  SumError error_;
  bool in_f32_ = false;  ///< elements are added as f32
};

}  // namespace reference
