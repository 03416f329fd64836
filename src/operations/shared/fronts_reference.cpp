#include "operations/shared/fronts_reference.hpp"

#include "operations/references.hpp"
#include "reference/expression.hpp"

#include <algorithm>
#include <array>
#include <variant>
#include <vector>

namespace reference {

bool understands_front(const std::string& expression, bool any_rounding) {
  if (is_identity(expression)) return true;
  const auto parsed = Expression::parse(expression);
  return parsed && parsed->offsets() == 0 && (any_rounding || parsed->rounds_once());
}

FrontFunction front_of(const std::string& expression) {
  if (is_identity(expression)) return {};
  return [parsed = Expression::parse(expression).value()](std::span<const Scalar> x) {
    return parsed.evaluate(x);
  };
}

double error_of_sums(const FrontFunction& front, std::span<const tmajit::Tensor> sources) {
  // Every value has the same type, so zeros show it.
  constexpr std::array<std::byte, 8> zero{};
  std::vector<Scalar> x;
  for (const tmajit::Tensor& source : sources) x.push_back(decode(source.view.type, zero.data()));
  const Scalar value = front ? front(x) : x.front();
  if (std::holds_alternative<float>(value)) return 0x1p-21;
  if (!std::holds_alternative<double>(value)) return 0;
  const bool all_f64 = std::ranges::all_of(
      sources, [](const tmajit::Tensor& source) { return source.view.type == tmajit::ElementType::f64; });
  return all_f64 ? 0x1p-50 : 0x1p-21;
}

}  // namespace reference
