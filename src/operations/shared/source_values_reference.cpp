#include "operations/shared/source_values_reference.hpp"

#include "operations/references.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

namespace reference {

std::vector<std::string_view> number_names(const tmajit::Move& move) {
  static constexpr std::array<std::string_view, 8> all{"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"};
  std::vector<std::string_view> names;
  std::size_t numbers = 0;
  for (const tmajit::Tensor& source : move.sources)
    names.push_back(source.view.is_number ? all.at(numbers++) : std::string_view());
  return names;
}

bool understands_source_values(const tmajit::Move& move, const std::string& expression, bool any_rounding) {
  if (is_identity(expression)) return true;
  const auto parsed = Expression::parse(expression, number_names(move));
  return parsed && parsed->offsets() == 0 && (any_rounding || parsed->is_exact());
}

SourceValues::SourceValues(const tmajit::Move& move, const std::string& expression) {
  if (!is_identity(expression)) expression_ = Expression::parse(expression, number_names(move)).value();
}

Computed SourceValues::operator()(std::span<const Computed> x) const {
  return expression_ ? expression_->evaluate(x) : x.front();
}

void CompensatedSum::add(double value) {
  const double next = begun_ ? sum_ + value : value;
  const bool first_larger = std::fabs(sum_) >= std::fabs(value);
  lost_ += first_larger ? (sum_ - next) + value : (value - next) + sum_;
  sum_ = next;
  begun_ = true;
}

double CompensatedSum::value() const {
  return std::isfinite(sum_) && lost_ != 0 ? sum_ + lost_ : sum_;
}

void SumError::add(const Computed& value) {
  ++count_;
  in_f32_ = std::holds_alternative<float>(value.value);
  in_f64_ = std::holds_alternative<double>(value.value);
  const double magnitude = std::fabs(as_double(value.value));
  magnitude_ += magnitude;
  whole_ = whole_ && magnitude == std::floor(magnitude);
  errors_ += value.error + value.rounding;
}

double SumError::error() const {
  if (!in_f32_ && !in_f64_) return 0;
  if (whole_ && errors_ == 0 && magnitude_ <= (in_f32_ ? 0x1p24 : 0x1p53)) return either_zero;
  // Each addition may add an error of half a unit in the last place. Kernels add many partial sums, so that
  // the errors of many additions cancel.
  const auto count = static_cast<double>(count_);
  const double error = in_f32_ ? std::min(count * 0x1p-24, 0x1p-21) : std::min(count * 0x1p-52, 0x1p-50);
  return error * magnitude_ + errors_ + either_zero;
}

}  // namespace reference
