#include "operations/reduce/reference.hpp"

#include "operations/references.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

namespace reference {

using tmajit::ReductionOp, tmajit::Tensor, tmajit::max_view_rank;

namespace {

/// Whether results are indices or truth values.
bool selects(ReductionOp op) {
  return op == ReductionOp::arg_min || op == ReductionOp::arg_max || op == ReductionOp::any ||
         op == ReductionOp::all;
}

/// Whether a < b; both have the same type.
bool is_below(const Scalar& a, const Scalar& b) {
  return std::visit([&b](auto v) { return v < std::get<decltype(v)>(b); }, a);
}

}  // namespace

void Reducer::add(const Computed& computed, std::uint64_t position) {
  const Scalar& value = computed.value;
  error_.add(computed);
  largest_error_ = std::max(largest_error_, computed.error);
  in_f32_ = std::holds_alternative<float>(value);
  switch (op_) {
    case ReductionOp::sum:
    case ReductionOp::mean: {
      const Scalar wide = widened(value);
      if (const double* real = std::get_if<double>(&wide)) {
        sum_.add(*real);
        state_ = sum_.value();
      } else {
        state_ = state_ ? reference::add(*state_, wide) : wide;
      }
      return;
    }
    case ReductionOp::min:
    case ReductionOp::arg_min: return add_extreme(value, position, true);
    case ReductionOp::max:
    case ReductionOp::arg_max: return add_extreme(value, position, false);
    case ReductionOp::any:
    case ReductionOp::all: {
      const bool is_true = std::visit([](auto v) { return v != 0; }, value);
      const bool before = state_ ? std::get<std::int32_t>(*state_) != 0 : op_ == ReductionOp::all;
      state_ = scalar(op_ == ReductionOp::all ? before && is_true : before || is_true);
    }
  }
}

void Reducer::add_extreme(const Scalar& value, std::uint64_t position, bool is_min) {
  const auto beats = [&] {
    if (!state_) return true;
    if (is_nan(value) || is_nan(*state_)) return is_nan(value) && (!is_nan(*state_) || position < position_);
    if (is_below(value, *state_)) return is_min;
    if (is_below(*state_, value)) return !is_min;
    return position < position_;
  };
  if (!beats()) return;
  state_ = value;
  position_ = position;
}

Computed Reducer::result() const {
  if (op_ == ReductionOp::arg_min || op_ == ReductionOp::arg_max)
    return Scalar(static_cast<std::int64_t>(position_));
  if (op_ == ReductionOp::sum || op_ == ReductionOp::mean) {
    // The sum and mean of f32 values are f32, so the epilogue sees their rounding.
    const double sum = as_double(*state_);
    const auto count = static_cast<double>(op_ == ReductionOp::sum ? 1 : error_.count());
    const auto with_error = [&](const Scalar& value, double unit) -> Computed {
      // A quotient of the error of zeros would become 0, which allows one sign only.
      const double of_sum = error_.error();
      const double error = of_sum > 0 ? std::max(of_sum / count, either_zero) : of_sum;
      return {value, is_exact(error) ? error : error + unit * std::fabs(as_double(value))};
    };
    if (in_f32_) return with_error(static_cast<float>(sum) / static_cast<float>(count), 0x1p-22);
    if (op_ == ReductionOp::mean || std::holds_alternative<double>(*state_))
      return with_error(sum / count, 0x1p-51);
  }
  // Integers shorter than 32 bits are reduced as 32-bit integers.
  return std::visit(
      [this](auto value) -> Computed {
        if constexpr (std::is_floating_point_v<decltype(value)>) {
          return {value, largest_error_};
        } else if constexpr (sizeof(value) < sizeof(std::int32_t)) {
          using Long = std::conditional_t<std::is_signed_v<decltype(value)>, std::int32_t, std::uint32_t>;
          return Scalar(static_cast<Long>(value));
        } else {
          return Scalar(value);
        }
      },
      *state_);
}

namespace {

/// Walks over the elements of a source that are reduced to one result.
class ReducedDimensions {
 public:
  ReducedDimensions(const tmajit::TensorView& whole, std::span<const std::int64_t> axes, bool keeps)
      : rank_(whole.rank), keeps_(keeps) {
    for (const std::int64_t axis : axes) reduced_.at(static_cast<std::size_t>(axis)) = true;
    part_ = reference::whole(whole);
    for (std::uint32_t d = 0; d < rank_; ++d) count_ *= reduced_.at(d) ? whole.shape.at(d) : 1;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// Calls visit(index) for each element of a source that is reduced to the element `result`.
  template <class Visit>
  void for_each(const Index& result, const Visit& visit) {
    std::size_t dimension = 0;
    for (std::uint32_t d = 0; d < rank_; ++d) {
      if (reduced_.at(d)) {
        if (keeps_) ++dimension;
        continue;
      }
      part_.first.at(d) = result.at(dimension++);
      part_.count.at(d) = 1;
    }
    for_each_index(rank_, part_, visit);
  }

 private:
  std::uint32_t rank_;
  bool keeps_;  ///< whether results have an index of 0 in each reduced dimension
  std::array<bool, max_view_rank> reduced_{};
  Part part_;
  std::uint64_t count_ = 1;
};

const tmajit::Reduction& reduction_of(const tmajit::Move& move) {
  return std::get<tmajit::Reduction>(move.body);
}

ReducedDimensions reduced_of(const tmajit::Move& move) {
  const tmajit::TensorView& whole = move.sources.front().view;
  const tmajit::Dims& axes = reduction_of(move).axes;
  std::vector<std::int64_t> found(axes.begin(), axes.end());
  for (std::int64_t& axis : found) axis += axis < 0 ? whole.rank : 0;
  for (std::uint32_t d = 0; axes.empty() && d < whole.rank; ++d) found.push_back(d);
  return {whole, found, reduction_of(move).keep_dims};
}

/// An epilogue reads the result, the number of elements, and the numbers of the launch.
std::optional<Expression> parse_epilogue(const tmajit::Move& move) {
  std::vector<std::string_view> names{"x", "n"};
  for (const std::string_view number : number_names(move))
    if (!number.empty()) names.push_back(number);
  return Expression::parse(reduction_of(move).epilogue, names);
}

/// Calls visit(index, value) for each result of a part.
template <class Visit>
void reduce_each(const tmajit::Move& move, const Part& part, const Visit& visit) {
  const tmajit::Reduction& what = reduction_of(move);
  const SourceValues values_of(move, what.expression);
  const auto epilogue = is_identity(what.epilogue) ? std::nullopt : parse_epilogue(move);
  std::vector<Computed> epilogue_values(2);
  for (const Tensor& source : move.sources)
    if (source.view.is_number) epilogue_values.push_back(decode(source.view.type, element_at(source, 0)));
  ReducedDimensions reduced = reduced_of(move);
  if (reduced.count() == 0) return;
  std::vector<Computed> x(move.sources.size());
  for_each_index(move.destination.view.rank, part, [&](const Index& result) {
    Reducer reducer(what.op);
    std::uint64_t position = 0;
    reduced.for_each(result, [&](const Index& index) {
      for (std::size_t s = 0; s < x.size(); ++s) {
        const Tensor& source = move.sources[s];
        x[s] = decode(source.view.type, element_at(source, offset_of(source.view, index)));
      }
      reducer.add(values_of(x), position++);
    });
    Computed value = reducer.result();
    if (epilogue) {
      // n has the type of x.
      const Scalar count = std::visit(
          [&](auto like) { return Scalar(static_cast<decltype(like)>(reduced.count())); }, value.value);
      epilogue_values[0] = value;
      epilogue_values[1] = Computed(count);
      value = epilogue->evaluate(epilogue_values);
    }
    visit(result, value);
  });
}

/// The allowed errors of sums and extremes cover the rounding of any expression. Indices and truth values
/// depend on comparisons, so the values of the expression must be exact.
bool understands_reduction(const tmajit::Move& move) {
  const auto& [op, axes, expression, epilogue, keep_dims] = reduction_of(move);
  const auto parsed = is_identity(epilogue) ? Expression::parse("x") : parse_epilogue(move);
  return parsed && parsed->offsets() == 0 && understands_source_values(move, expression, !selects(op));
}

constexpr OperationReference reduce_reference{
    .compute =
        [](const tmajit::Move& move, const Part& part) {
          const Tensor& to = move.destination;
          reduce_each(move, part, [&](const Index& index, const Computed& value) {
            encode(to.view.type, value.value, element_at(to, offset_of(to.view, index)));
          });
        },
    .understands = understands_reduction,
    .makes_values = computes,
    .allowed_errors =
        [](const tmajit::Move& move, const Part& part) {
          std::vector<double> errors;
          reduce_each(move, part, [&](const Index& /*index*/, const Computed& value) {
            errors.push_back(stored_error(move.destination.view.type, value));
          });
          return errors;
        },
    .reads =
        [](const tmajit::Move& move, const Part& part) {
          return move.sources.size() * element_count(part, move.destination.view.rank) *
                 reduced_of(move).count();
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::Reduction& /*reduction*/) noexcept {
  return reduce_reference;
}

}  // namespace reference
