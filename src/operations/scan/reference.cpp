#include "operations/references.hpp"
#include "operations/shared/source_values_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace reference {

using tmajit::Scan, tmajit::ScanOp, tmajit::Tensor;

namespace {

bool accumulates(ScanOp op) {
  return op == ScanOp::sum || op == ScanOp::product;
}

/// The value in the type in which a scan of `op` accumulates. Sums and products accumulate as double or
/// 64-bit integers, minima and maxima in the value's own type.
Scalar state_of(ScanOp op, const Scalar& value) {
  if (!accumulates(op)) return value;
  return widened(value);
}

/// The identity of `op`, with which an exclusive scan begins, in the state's type for a value like `value`.
Scalar identity(ScanOp op, const Scalar& value) {
  if (accumulates(op)) {
    const int number = op == ScanOp::sum ? 0 : 1;
    return std::visit([number](auto v) { return Scalar(static_cast<decltype(v)>(number)); },
                      state_of(op, value));
  }
  return std::visit(
      [op](auto v) -> Scalar {
        using Limits = std::numeric_limits<decltype(v)>;
        if constexpr (Limits::has_infinity) {
          return op == ScanOp::min ? Limits::infinity() : -Limits::infinity();
        } else {
          return op == ScanOp::min ? Limits::max() : Limits::min();
        }
      },
      value);
}

Scalar combined(ScanOp op, const Scalar& a, const Scalar& b) {
  if (op == ScanOp::sum) return add(a, b);
  if (op == ScanOp::product) return multiply(a, b);
  if (is_nan(a)) return a;
  return std::visit(
      [op, &b](auto left) -> Scalar {
        const auto right = std::get<decltype(left)>(b);
        const bool takes_left = op == ScanOp::min ? left < right : left > right;
        return takes_left ? left : right;
      },
      a);
}

/// Converts a state to the result's type: sums and products of f32 are f32. `like` is a scanned value.
Scalar result_of(ScanOp op, const Scalar& state, const Scalar& like) {
  if (accumulates(op) && std::holds_alternative<float>(like))
    return static_cast<float>(std::get<double>(state));
  return state;
}

/// Accumulates the allowed error of a kernel's result, which may combine the values in any order.
class ScanError {
 public:
  void add(ScanOp op, const Computed& value) {
    sum_.add(value);
    largest_error_ = std::max(largest_error_, value.error);
    const double magnitude = std::fabs(as_double(value.value));
    whole_ = whole_ && magnitude == std::floor(magnitude);
    if (op == ScanOp::product) largest_ *= std::max(magnitude, 1.0);
  }
  /// The allowed error of `result`, by its type and magnitude.
  [[nodiscard]] double error(ScanOp op, const Scalar& result) const {
    const bool in_f32 = std::holds_alternative<float>(result);
    if (!in_f32 && !std::holds_alternative<double>(result)) return 0;
    const double unit = in_f32 ? 0x1p-23 : 0x1p-51;
    const double size = std::fabs(as_double(result));
    if (!accumulates(op)) return largest_error_;
    double error = op == ScanOp::sum ? sum_.error() : either_zero;
    if (op == ScanOp::product && (!whole_ || largest_ > (in_f32 ? 0x1p24 : 0x1p53)))
      error = static_cast<double>(sum_.count()) * unit * size;
    return is_exact(error) ? either_zero : error + unit * size;
  }

 private:
  SumError sum_;
  double largest_error_ = either_zero;  ///< a minimum or maximum is as wrong as the most wrong value
  bool whole_ = true;                   ///< all values are whole numbers
  double largest_ = 1;  ///< upper bound of all partial products: the product of all magnitudes above 1
};

const Scan& scan_of(const tmajit::Move& move) {
  return std::get<Scan>(move.body);
}

std::uint32_t axis_of(const tmajit::Move& move) {
  const std::int64_t axis = scan_of(move).axis;
  return static_cast<std::uint32_t>(axis < 0 ? axis + move.destination.view.rank : axis);
}

/// Calls visit(index, value) for each element of a part, row by row; each row is computed from its beginning.
/// Floating-point sums and products accumulate as doubles, and each result is rounded once. Integer sums and
/// products wrap at 64 bits.
template <class Visit>
void scan_each(const tmajit::Move& move, const Part& part, const Visit& visit) {
  const Scan& what = scan_of(move);
  const SourceValues values_of(move, what.expression);
  const std::uint32_t axis = axis_of(move);
  const std::uint64_t length = move.destination.view.shape.at(axis);
  Part rows = part;  // the first element of each row along the axis
  rows.first.at(axis) = 0;
  rows.count.at(axis) = std::min<std::uint64_t>(part.count.at(axis), 1);
  std::vector<Computed> x(move.sources.size());
  for_each_index(move.destination.view.rank, rows, [&](Index index) {
    Scalar state;
    ScanError error;
    CompensatedSum sum;
    for (std::uint64_t n = 0; n < length; ++n) {
      index.at(axis) = what.reverse ? length - 1 - n : n;
      for (std::size_t s = 0; s < x.size(); ++s) {
        const Tensor& source = move.sources[s];
        x[s] = decode(source.view.type, element_at(source, offset_of(source.view, index)));
      }
      const Computed value = values_of(x);
      if (n == 0) state = identity(what.op, value.value);
      const Scalar wide = state_of(what.op, value.value);
      Scalar next = combined(what.op, state, wide);
      if (const double* real = std::get_if<double>(&wide); real && what.op == ScanOp::sum) {
        sum.add(*real);
        next = sum.value();
      }
      if (!what.exclusive) error.add(what.op, value);
      if (index.at(axis) - part.first.at(axis) < part.count.at(axis)) {
        const Scalar result = result_of(what.op, what.exclusive ? state : next, value.value);
        visit(index, Computed(result, error.error(what.op, result)));
      }
      if (what.exclusive) error.add(what.op, value);
      state = next;
    }
  });
}

constexpr OperationReference scan_reference{
    .compute =
        [](const tmajit::Move& move, const Part& part) {
          const Tensor& to = move.destination;
          scan_each(move, part, [&](const Index& index, const Computed& value) {
            encode(to.view.type, value.value, element_at(to, offset_of(to.view, index)));
          });
        },
    .understands =
        [](const tmajit::Move& move) {
          return understands_source_values(move, scan_of(move).expression, true);
        },
    .makes_values = computes,
    .allowed_errors =
        [](const tmajit::Move& move, const Part& part) {
          // scan_each() visits elements along the axis, not in row-major order.
          const tmajit::TensorView& view = move.destination.view;
          std::vector<double> errors(element_count(part, view.rank));
          const Tensor at = only_part(view, part, tmajit::ElementType::f64, errors.data());
          scan_each(move, part, [&](const Index& index, const Computed& value) {
            encode(tmajit::ElementType::f64, stored_error(view.type, value),
                   element_at(at, offset_of(at.view, index)));
          });
          return errors;
        },
    .reads =
        [](const tmajit::Move& move, const Part& part) {
          const std::uint32_t axis = axis_of(move);
          const std::uint64_t rows = element_count(part, move.destination.view.rank) /
                                     std::max<std::uint64_t>(part.count.at(axis), 1);
          return move.sources.size() * rows * move.destination.view.shape.at(axis);
        }};

}  // namespace

const OperationReference& reference_of(const Scan& /*scan*/) noexcept {
  return scan_reference;
}

}  // namespace reference
