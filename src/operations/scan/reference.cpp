#include "operations/scan/reference.hpp"

#include "operations/references.hpp"
#include "reference/walk.hpp"

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

std::byte* at(const Tensor& tensor, std::int64_t elements) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): host memory by contract
  return reinterpret_cast<std::byte*>(tensor.address) +
         elements * static_cast<std::int64_t>(size_of(tensor.view.type));
}

/// The offset in elements of row `n`, counted in row-major order over all dimensions but the axis.
std::int64_t row_offset(const Tensor& tensor, std::uint32_t axis, std::uint64_t n) {
  std::int64_t offset = 0;
  for (std::uint32_t d = tensor.view.rank; d-- > 0;) {
    if (d == axis) continue;
    offset += static_cast<std::int64_t>(n % tensor.view.shape.at(d)) * tensor.view.strides.at(d);
    n /= tensor.view.shape.at(d);
  }
  return offset;
}

}  // namespace

void scan(const Tensor& destination, std::span<const Tensor> sources, const Scan& what,
          const FrontFunction& front) {
  const auto axis = static_cast<std::uint32_t>(what.axis);
  const std::uint64_t length = destination.view.shape.at(axis);
  if (element_count(destination.view) == 0) return;
  const std::uint64_t rows = element_count(destination.view) / length;
  std::vector<Scalar> x(sources.size());
  for (std::uint64_t row = 0; row < rows; ++row) {
    Scalar state;
    for (std::uint64_t n = 0; n < length; ++n) {
      const auto index = static_cast<std::int64_t>(what.reverse ? length - 1 - n : n);
      const auto place = [&](const Tensor& tensor) {
        return at(tensor, row_offset(tensor, axis, row) + index * tensor.view.strides.at(axis));
      };
      for (std::size_t s = 0; s < sources.size(); ++s) x[s] = decode(sources[s].view.type, place(sources[s]));
      const Scalar value = front(x);
      if (n == 0) state = identity(what.op, value);
      const Scalar next = combined(what.op, state, state_of(what.op, value));
      encode(destination.view.type, result_of(what.op, what.exclusive ? state : next, value),
             place(destination));
      state = next;
    }
  }
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

void scan_values(const tmajit::Move& move) {
  const auto first = [](std::span<const Scalar> x) { return x.front(); };
  scan(move.destination, move.sources, forward_axis(move), first);
}

/// Sums and products of floating point depend on their order: an error of a sum is relative to the sum of
/// magnitudes, and of a product to its own magnitude and the number of factors.
std::vector<double> scan_errors(const tmajit::Move& move) {
  const Scan what = forward_axis(move);
  const tmajit::ElementType from = move.sources.front().view.type;
  if (!accumulates(what.op) || !tmajit::is_float(from)) return {};
  const tmajit::TensorView& to = move.destination.view;
  std::vector<double> errors(element_count(to));
  const Tensor magnitudes(
      tmajit::TensorView::contiguous(tmajit::ElementType::f64, std::span(to.shape).first(to.rank)),
      reinterpret_cast<std::uintptr_t>(errors.data()));
  scan(magnitudes, move.sources, what,
       [](std::span<const Scalar> x) -> Scalar { return std::fabs(as_double(x.front())); });
  double error = from == tmajit::ElementType::f64 ? 0x1p-50 : 0x1p-21;
  if (what.op == ScanOp::product)
    error *= static_cast<double>(to.shape.at(static_cast<std::size_t>(what.axis)));
  for (double& one : errors) one *= error;
  return errors;
}

constexpr OperationReference scan_reference{
    .compute = scan_values,
    .understands = [](const tmajit::Move& move) { return is_identity(scan_of(move).expression); },
    .rounding = [](const tmajit::Move& /*move*/) { return Rounding::once; },
    .allowed_errors = scan_errors};

}  // namespace

const OperationReference& reference_of(const Scan& /*scan*/) noexcept {
  return scan_reference;
}

}  // namespace reference
