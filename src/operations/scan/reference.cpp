#include "operations/scan/reference.hpp"

#include "operations/references.hpp"

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

/// A value as scans of `op` accumulate it: sums and products as double or in 64 bits, extremes as they are.
Scalar state_of(ScanOp op, const Scalar& value) {
  if (!accumulates(op)) return value;
  return widened(value);
}

/// The first result of an exclusive scan of values of the type of `value`.
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
  return std::visit(
      [op, &b](auto left) -> Scalar {
        const auto right = std::get<decltype(left)>(b);
        if (left != left) return left;
        const bool takes_left = op == ScanOp::min ? left < right : left > right;
        return takes_left ? left : right;
      },
      a);
}

/// The result of a state: sums and products of f32 are f32.
Scalar result_of(ScanOp op, const Scalar& state, const Scalar& like) {
  if (accumulates(op) && std::holds_alternative<float>(like))
    return static_cast<float>(std::get<double>(state));
  return state;
}

}  // namespace

void scan(const Tensor& destination, std::span<const Tensor> sources, const Scan& what,
          const FrontFunction& front, const Part& part) {
  const auto axis = static_cast<std::uint32_t>(what.axis);
  const std::uint64_t length = destination.view.shape.at(axis);
  Part rows = part;  // their first elements
  rows.first.at(axis) = 0;
  rows.count.at(axis) = std::min<std::uint64_t>(part.count.at(axis), 1);
  std::vector<Scalar> x(sources.size());
  for_each_index(destination.view.rank, rows, [&](Index index) {
    Scalar state;
    for (std::uint64_t n = 0; n < length; ++n) {
      index.at(axis) = what.reverse ? length - 1 - n : n;
      for (std::size_t s = 0; s < sources.size(); ++s) {
        const Tensor& source = sources[s];
        x[s] = decode(source.view.type, element_at(source, offset_of(source.view, index)));
      }
      const Scalar value = front ? front(x) : x.front();
      if (n == 0) state = identity(what.op, value);
      const Scalar next = combined(what.op, state, state_of(what.op, value));
      if (index.at(axis) - part.first.at(axis) < part.count.at(axis)) {
        encode(destination.view.type, result_of(what.op, what.exclusive ? state : next, value),
               element_at(destination, offset_of(destination.view, index)));
      }
      state = next;
    }
  });
}

namespace {

const Scan& scan_of(const tmajit::Move& move) {
  return std::get<Scan>(move.body);
}

Scan forward_axis(const tmajit::Move& move) {
  Scan what = scan_of(move);
  if (what.axis < 0) what.axis += move.destination.view.rank;
  return what;
}

void scan_values(const tmajit::Move& move, const Part& part) {
  scan(move.destination, move.sources, forward_axis(move), front_of(scan_of(move).expression), part);
}

/// Sums and products of floating point depend on their order: an error of a sum is relative to the sum of
/// magnitudes, and of a product to its own magnitude and the number of factors.
std::vector<double> scan_errors(const tmajit::Move& move, const Part& part) {
  const Scan what = forward_axis(move);
  const FrontFunction front = front_of(what.expression);
  double error = error_of_sums(front, move.sources);
  if (!accumulates(what.op) || error == 0) return {};
  const tmajit::TensorView& to = move.destination.view;
  std::vector<double> errors(element_count(part, to.rank));
  scan(
      only_part(to, part, tmajit::ElementType::f64, errors.data()), move.sources, what,
      [&front](std::span<const Scalar> x) -> Scalar {
        return std::fabs(as_double(front ? front(x) : x.front()));
      },
      part);
  if (what.op == ScanOp::product)
    error *= static_cast<double>(to.shape.at(static_cast<std::size_t>(what.axis)));
  for (double& one : errors) one *= error;
  return errors;
}

constexpr OperationReference scan_reference{
    .compute = scan_values,
    .understands =
        [](const tmajit::Move& move) {
          return understands_front(scan_of(move).expression, accumulates(scan_of(move).op));
        },
    .rounding = [](const tmajit::Move& /*move*/) { return Rounding::once; },
    .allowed_errors = scan_errors,
    .reads =
        [](const tmajit::Move& move, const Part& part) {
          const auto axis = static_cast<std::size_t>(forward_axis(move).axis);
          const std::uint64_t rows = element_count(part, move.destination.view.rank) /
                                     std::max<std::uint64_t>(part.count.at(axis), 1);
          return move.sources.size() * rows * move.destination.view.shape.at(axis);
        }};

}  // namespace

const OperationReference& reference_of(const Scan& /*scan*/) noexcept {
  return scan_reference;
}

}  // namespace reference
