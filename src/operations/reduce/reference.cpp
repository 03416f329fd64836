#include "operations/reduce/reference.hpp"

#include "operations/references.hpp"
#include "operations/shared/fronts_reference.hpp"

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

/// Walks over the elements of a source that are reduced to one result.
class ReducedDimensions {
 public:
  ReducedDimensions(const tmajit::TensorView& whole, std::span<const std::int64_t> axes) : rank_(whole.rank) {
    for (const std::int64_t axis : axes) reduced_.at(static_cast<std::size_t>(axis)) = true;
    part_ = reference::whole(whole);
    for (std::uint32_t d = 0; d < rank_; ++d) count_ *= reduced_.at(d) ? whole.shape.at(d) : 1;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// Calls visit(index) for each element of a source that is reduced to the result of that index.
  template <class Visit>
  void for_each(const Index& result, const Visit& visit) {
    std::size_t dimension = 0;
    for (std::uint32_t d = 0; d < rank_; ++d) {
      if (reduced_.at(d)) continue;
      part_.first.at(d) = result.at(dimension++);
      part_.count.at(d) = 1;
    }
    for_each_index(rank_, part_, visit);
  }

 private:
  std::uint32_t rank_;
  std::array<bool, max_view_rank> reduced_{};
  Part part_;
  std::uint64_t count_ = 1;
};

/// Calls store(reducer, count, index) for each result of a part of the destination. The reducer has
/// accumulated the result's `count` elements.
template <class Store>
void reduce_each(const tmajit::TensorView& destination, const Part& part, std::span<const Tensor> sources,
                 ReductionOp op, std::span<const std::int64_t> axes, const FrontFunction& front,
                 const Store& store) {
  ReducedDimensions reduced(sources.front().view, axes);
  if (reduced.count() == 0) return;
  std::vector<Scalar> x(sources.size());
  for_each_index(destination.rank, part, [&](const Index& result) {
    Reducer reducer(op);
    std::uint64_t place = 0;
    reduced.for_each(result, [&](const Index& index) {
      for (std::size_t s = 0; s < sources.size(); ++s) {
        const Tensor& source = sources[s];
        x[s] = decode(source.view.type, element_at(source, offset_of(source.view, index)));
      }
      reducer.add(front ? front(x) : x.front(), place++);
    });
    store(reducer, reduced.count(), result);
  });
}

}  // namespace

void reduce(const Tensor& destination, std::span<const Tensor> sources, ReductionOp op,
            std::span<const std::int64_t> axes, const FrontFunction& front, const BehindFunction& behind,
            const Part& part) {
  reduce_each(destination.view, part, sources, op, axes, front,
              [&](const Reducer& reducer, std::uint64_t count, const Index& index) {
                const Scalar result = reducer.result();
                encode(destination.view.type, behind ? behind(result, count) : result,
                       element_at(destination, offset_of(destination.view, index)));
              });
}

void reduce_bounds(const Tensor& least, const Tensor& greatest, std::span<const Tensor> sources,
                   ReductionOp op, std::span<const std::int64_t> axes, const FrontFunction& front,
                   const BehindFunction& behind) {
  reduce_each(least.view, whole(least.view), sources, op, axes, front,
              [&](const Reducer& reducer, std::uint64_t count, const Index& index) {
                const double error = reducer.most_error();
                const std::int64_t to = offset_of(least.view, index);
                encode(least.view.type, behind(reducer.result(-error), count), element_at(least, to));
                encode(greatest.view.type, behind(reducer.result(error), count), element_at(greatest, to));
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

/// The allowed error of a sum covers the rounding of any expression. The result of another operation is one
/// of the values, which must be exact.
bool understands_reduction(const tmajit::Move& move) {
  const ReductionOp op = reduction_of(move).op;
  return is_identity(reduction_of(move).then) &&
         understands_front(reduction_of(move).expression, op == ReductionOp::sum || op == ReductionOp::mean);
}

void reduce_values(const tmajit::Move& move, const Part& part) {
  reduce(move.destination, move.sources, reduction_of(move).op, axes_of(move),
         front_of(reduction_of(move).expression), {}, part);
}

/// Sums of floating point depend on their order: an error is relative to the sum of magnitudes.
std::vector<double> sum_errors(const tmajit::Move& move, const Part& part) {
  const ReductionOp op = reduction_of(move).op;
  const FrontFunction front = front_of(reduction_of(move).expression);
  const double error = error_of_sums(front, move.sources);
  if ((op != ReductionOp::sum && op != ReductionOp::mean) || error == 0) return {};
  const tmajit::TensorView& to = move.destination.view;
  std::vector<double> magnitudes(element_count(part, to.rank));
  const auto magnitude = [&front](std::span<const Scalar> x) -> Scalar {
    return std::fabs(as_double(front ? front(x) : x.front()));
  };
  reduce(only_part(to, part, tmajit::ElementType::f64, magnitudes.data()), move.sources, op, axes_of(move),
         magnitude, {}, part);
  for (double& one : magnitudes) one *= error;
  return magnitudes;
}

constexpr OperationReference reduce_reference{
    .compute = reduce_values,
    .understands = understands_reduction,
    .rounding = [](const tmajit::Move& /*move*/) { return Rounding::once; },
    .allowed_errors = sum_errors,
    .reads =
        [](const tmajit::Move& move, const Part& part) {
          return move.sources.size() * element_count(part, move.destination.view.rank) *
                 ReducedDimensions(move.sources.front().view, axes_of(move)).count();
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::Reduction& /*reduction*/) noexcept {
  return reduce_reference;
}

}  // namespace reference
