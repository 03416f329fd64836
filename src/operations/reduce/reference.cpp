#include "operations/reduce/reference.hpp"

#include "operations/references.hpp"
#include "reference/walk.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace reference {

using tmajit::ReductionOp, tmajit::Tensor, tmajit::max_view_rank;

namespace {

bool is_nan(const Scalar& value) {
  return std::visit([](auto v) { return v != v; }, value);
}

/// Whether `a` is below `b`, which has its type.
bool is_below(const Scalar& a, const Scalar& b) {
  return std::visit([&b](auto v) { return v < std::get<decltype(v)>(b); }, a);
}

std::byte* at(const Tensor& tensor, std::int64_t elements) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): host memory by contract
  return reinterpret_cast<std::byte*>(tensor.address) +
         elements * static_cast<std::int64_t>(size_of(tensor.view.type));
}

}  // namespace

void Reducer::add(const Scalar& value, std::uint64_t place) {
  ++count_;
  in_f32_ = std::holds_alternative<float>(value);
  in_f64_ = std::holds_alternative<double>(value);
  const double magnitude = std::fabs(as_double(value));
  magnitude_ += magnitude;
  whole_ = whole_ && magnitude == std::floor(magnitude);
  switch (op_) {
    case ReductionOp::sum:
    case ReductionOp::mean: kept_ = kept_ ? reference::add(*kept_, widened(value)) : widened(value); return;
    case ReductionOp::min:
    case ReductionOp::arg_min: return add_extreme(value, place, true);
    case ReductionOp::max:
    case ReductionOp::arg_max: return add_extreme(value, place, false);
    case ReductionOp::any:
    case ReductionOp::all: {
      const bool is_true = std::visit([](auto v) { return v != 0; }, value);
      const bool before = kept_ ? std::get<std::int32_t>(*kept_) != 0 : op_ == ReductionOp::all;
      kept_ = scalar(op_ == ReductionOp::all ? before && is_true : before || is_true);
    }
  }
}

void Reducer::add_extreme(const Scalar& value, std::uint64_t place, bool least) {
  const auto beats = [&] {
    if (!kept_) return true;
    if (is_nan(value) || is_nan(*kept_)) return is_nan(value) && (!is_nan(*kept_) || place < place_);
    if (is_below(value, *kept_)) return least;
    if (is_below(*kept_, value)) return !least;
    return place < place_;
  };
  if (!beats()) return;
  kept_ = value;
  place_ = place;
}

double Reducer::most_error() const {
  if (op_ != ReductionOp::sum && op_ != ReductionOp::mean) return 0;
  if (!in_f32_ && !in_f64_) return 0;
  // The distance of neighbours from 1 on: twice the relative error of an addition.
  const double epsilon = in_f32_ ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                 : std::numeric_limits<double>::epsilon();
  if (whole_ && magnitude_ <= 2 / epsilon) return 0;
  return static_cast<double>(count_) * epsilon * magnitude_;
}

Scalar Reducer::result(double error) const {
  if (op_ == ReductionOp::arg_min || op_ == ReductionOp::arg_max) return static_cast<std::int64_t>(place_);
  const bool sums = op_ == ReductionOp::sum || op_ == ReductionOp::mean;
  // A sum of f32 and its mean are f32: what is computed from them sees their rounding.
  if (sums && in_f32_) {
    const auto sum = static_cast<float>(as_double(*kept_) + error);
    return op_ == ReductionOp::sum ? sum : sum / static_cast<float>(count_);
  }
  if (sums && in_f64_) {
    const double sum = as_double(*kept_) + error;
    return op_ == ReductionOp::sum ? sum : sum / static_cast<double>(count_);
  }
  if (op_ == ReductionOp::mean) return as_double(*kept_) / static_cast<double>(count_);
  // Integers shorter than 32 bits have become so long.
  return std::visit(
      [](auto value) -> Scalar {
        if constexpr (std::is_integral_v<decltype(value)> && sizeof(value) < sizeof(std::int32_t)) {
          using Long = std::conditional_t<std::is_signed_v<decltype(value)>, std::int32_t, std::uint32_t>;
          return static_cast<Long>(value);
        } else {
          return value;
        }
      },
      *kept_);
}

namespace {

/// Calls `store` for each result: with what has come together, how many elements that is of, and the
/// result's offset in `destination`, in elements.
template <class Store>
void reduce_each(const tmajit::TensorView& destination, std::span<const Tensor> sources, ReductionOp op,
                 std::span<const std::int64_t> axes, const FrontFunction& front, const Store& store) {
  const tmajit::TensorView& whole = sources.front().view;
  std::array<bool, max_view_rank> reduced{};
  for (const std::int64_t axis : axes) reduced.at(static_cast<std::size_t>(axis)) = true;
  // The dimensions that are kept, then those that are reduced.
  std::vector<std::uint32_t> order;
  for (const bool wanted : {false, true}) {
    for (std::uint32_t d = 0; d < whole.rank; ++d) {
      if (reduced.at(d) == wanted) order.push_back(d);
    }
  }
  std::uint64_t kept = 1;
  std::uint64_t together = 1;
  for (std::uint32_t d = 0; d < whole.rank; ++d) (reduced.at(d) ? together : kept) *= whole.shape.at(d);

  std::vector<Scalar> x(sources.size());
  for (std::uint64_t n = 0; n < kept * together;) {
    Reducer reducer(op);
    std::int64_t to = 0;
    for (std::uint64_t place = 0; place < together; ++place, ++n) {
      std::vector<std::int64_t> from(sources.size());
      std::uint64_t rest = n;
      to = 0;
      std::uint32_t dimension = destination.rank;
      for (std::size_t k = order.size(); k-- > 0;) {
        const std::uint32_t d = order[k];
        const auto index = static_cast<std::int64_t>(rest % whole.shape.at(d));
        rest /= whole.shape.at(d);
        for (std::size_t s = 0; s < sources.size(); ++s) from[s] += index * sources[s].view.strides.at(d);
        if (!reduced.at(d)) to += index * destination.strides.at(--dimension);
      }
      for (std::size_t s = 0; s < sources.size(); ++s)
        x[s] = decode(sources[s].view.type, at(sources[s], from[s]));
      reducer.add(front(x), place);
    }
    store(reducer, together, to);
  }
}

}  // namespace

void reduce(const Tensor& destination, std::span<const Tensor> sources, ReductionOp op,
            std::span<const std::int64_t> axes, const FrontFunction& front, const BehindFunction& behind) {
  reduce_each(destination.view, sources, op, axes, front,
              [&](const Reducer& reducer, std::uint64_t count, std::int64_t to) {
                encode(destination.view.type, behind(reducer.result(), count), at(destination, to));
              });
}

void reduce_bounds(const Tensor& least, const Tensor& greatest, std::span<const Tensor> sources,
                   ReductionOp op, std::span<const std::int64_t> axes, const FrontFunction& front,
                   const BehindFunction& behind) {
  reduce_each(least.view, sources, op, axes, front,
              [&](const Reducer& reducer, std::uint64_t count, std::int64_t to) {
                const double error = reducer.most_error();
                encode(least.view.type, behind(reducer.result(-error), count), at(least, to));
                encode(greatest.view.type, behind(reducer.result(error), count), at(greatest, to));
              });
}

namespace {

const tmajit::Reduction& reduction_of(const tmajit::Move& move) {
  return std::get<tmajit::Reduction>(move.body);
}

std::vector<std::int64_t> axes_of(const tmajit::Move& move) {
  const tmajit::Dims& axes = reduction_of(move).axes;
  std::vector<std::int64_t> found(axes.begin(), axes.end());
  for (std::int64_t& axis : found) axis += axis < 0 ? move.sources.front().view.rank : 0;
  return found;
}

bool reduces_values(const tmajit::Move& move) {
  return is_identity(reduction_of(move).expression) && is_identity(reduction_of(move).then);
}

Scalar same(const Scalar& x, std::uint64_t /*n*/) {
  return x;
}

void reduce_values(const tmajit::Move& move) {
  const auto first = [](std::span<const Scalar> x) { return x.front(); };
  reduce(move.destination, move.sources, reduction_of(move).op, axes_of(move), first, same);
}

/// Sums of floating point depend on their order: an error is relative to the sum of magnitudes.
std::vector<double> sum_errors(const tmajit::Move& move) {
  const ReductionOp op = reduction_of(move).op;
  const tmajit::ElementType from = move.sources.front().view.type;
  if ((op != ReductionOp::sum && op != ReductionOp::mean) || !tmajit::is_float(from)) return {};
  const tmajit::TensorView& to = move.destination.view;
  std::vector<double> magnitudes(element_count(to));
  const Tensor sums(
      tmajit::TensorView::contiguous(tmajit::ElementType::f64, std::span(to.shape).first(to.rank)),
      reinterpret_cast<std::uintptr_t>(magnitudes.data()));
  const auto magnitude = [](std::span<const Scalar> x) -> Scalar { return std::fabs(as_double(x.front())); };
  reduce(sums, move.sources, op, axes_of(move), magnitude, same);
  const double error = from == tmajit::ElementType::f64 ? 0x1p-50 : 0x1p-21;
  for (double& one : magnitudes) one *= error;
  return magnitudes;
}

constexpr OperationReference reduce_reference{
    .compute = reduce_values,
    .understands = reduces_values,
    .rounding = [](const tmajit::Move& /*move*/) { return Rounding::once; },
    .allowed_errors = sum_errors};

}  // namespace

const OperationReference& reference_of(const tmajit::Reduction& /*reduction*/) noexcept {
  return reduce_reference;
}

}  // namespace reference
