#pragma once

#include "operations/shared/fronts_reference.hpp"
#include "reference/walk.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace reference {

/// Reduces elements that are added one by one, in any order. Sums of floating point are added as
/// doubles and rounded once; sums of integers wrap at 64 bits.
class Reducer {
 public:
  explicit Reducer(tmajit::ReductionOp op) : op_(op) {}
  /// `place` is the element's among those that come together.
  void add(const Scalar& value, std::uint64_t place);
  /// The result of at least one element. `error` is added to a sum of floating point before it is rounded.
  [[nodiscard]] Scalar result(double error = 0) const;
  /// How far a sum in the elements' own floating-point type may be from the exact one, in any order of
  /// additions; 0 where every partial sum is exact.
  [[nodiscard]] double most_error() const;

 private:
  void add_extreme(const Scalar& value, std::uint64_t place, bool least);

  tmajit::ReductionOp op_;
  std::optional<Scalar> kept_;
  std::uint64_t place_ = 0;
  std::uint64_t count_ = 0;
  bool in_f32_ = false;   ///< elements are added as f32
  bool in_f64_ = false;   ///< elements are added as f64
  bool whole_ = true;     ///< all elements of a sum are whole numbers
  double magnitude_ = 0;  ///< the sum of their absolute values
};

/// Computes the stored value from a result and the number of its elements; null: the result.
using BehindFunction = std::function<Scalar(const Scalar& x, std::uint64_t n)>;

/// Writes a part of the result of a reduction. Tensors are in host memory: `address` is a host pointer.
/// Sources have one shape, of which the destination has the dimensions that are not among `axes`, none of
/// which is negative.
void reduce(const tmajit::Tensor& destination, std::span<const tmajit::Tensor> sources,
            tmajit::ReductionOp op, std::span<const std::int64_t> axes, const FrontFunction& front,
            const BehindFunction& behind, const Part& part);

/// The least and the greatest result that a kernel may have, which adds floating point in an order of its
/// own. `least` and `greatest` have one view; `behind` does not decrease. Both get the same where sums are
/// exact in any order.
void reduce_bounds(const tmajit::Tensor& least, const tmajit::Tensor& greatest,
                   std::span<const tmajit::Tensor> sources, tmajit::ReductionOp op,
                   std::span<const std::int64_t> axes, const FrontFunction& front,
                   const BehindFunction& behind);

}  // namespace reference
