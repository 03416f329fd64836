#pragma once

#include "reference/scalar.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace reference {

/// What a reduction makes of elements that come one by one, in any order. Sums of floating point are doubles,
/// so that they are right where a shorter sum would be exact; those of integers wrap at 64 bits.
class Reducer {
 public:
  explicit Reducer(tmajit::ReductionOp op) : op_(op) {}
  /// `place` is the element's among those that come together.
  void add(const Scalar& value, std::uint64_t place);
  /// Of at least one element.
  [[nodiscard]] Scalar result() const;

 private:
  void add_extreme(const Scalar& value, std::uint64_t place, bool least);

  tmajit::ReductionOp op_;
  std::optional<Scalar> kept_;
  std::uint64_t place_ = 0;
  std::uint64_t count_ = 0;
  bool in_f32_ = false;  ///< what comes together is
};

/// What is reduced, of the sources' elements; and what becomes of a result, of so many elements.
using FrontFunction = std::function<Scalar(std::span<const Scalar> x)>;
using BehindFunction = std::function<Scalar(const Scalar& x, std::uint64_t n)>;

/// A reduction of tensors in host memory: `address` is a host pointer. Sources have one shape, of which the
/// destination has the dimensions that are not among `axes`, none of which is negative.
void reduce(const tmajit::Tensor& destination, std::span<const tmajit::Tensor> sources,
            tmajit::ReductionOp op, std::span<const std::int64_t> axes, const FrontFunction& front,
            const BehindFunction& behind);

}  // namespace reference
