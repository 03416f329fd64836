#include "expressions.hpp"

#include <tmajit/error.hpp>

#include <cmath>
#include <variant>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using reference::add;
using reference::multiply;
using reference::Scalar;
using tmajit::ElementType;
using Sources = std::span<const Scalar>;

std::function<std::string(ElementType)> always(std::string text) {
  return [text = std::move(text)](ElementType) { return text; };
}

/// The approximate exponential and quotient, as the compilers beside us take them, too.
std::string silu_text(ElementType type) {
  return type == ElementType::f64 ? "x0 / (1.0 + exp(-x0)) * x1 + 1.0"
                                  : "__fdividef(x0, 1.0f + __expf(-x0)) * x1 + 1.0f";
}

Scalar silu(Sources x) {
  const double a = as_double(x[0]);
  return a / (1 + std::exp(-a)) * as_double(x[1]) + 1;
}

const std::vector<Expression>& expressions() {
  // The normalisation is what images go through: to 0 … 1, less a mean, over a deviation.
  static const std::vector<Expression> all{
      {"cast", always(""), [](Sources x) { return x[0]; }},
      {"2a+1", always("x * 2 + 1"), [](Sources x) { return add(multiply(x[0], 2), 1); }},
      {"a+b", always("x0 + x1"), [](Sources x) { return add(x[0], x[1]); }},
      {"a+b+c", always("x0 + x1 + x2"), [](Sources x) { return add(add(x[0], x[1]), x[2]); }},
      {"3", always("3"), [](Sources) -> Scalar { return 3.0; }},
      {"a", always("x"), [](Sources x) { return x[0]; }},
      {"100a", always("x * 100"), [](Sources x) { return multiply(x[0], 100); }},
      {"2.5a", always("x * 2.5f"), [](Sources x) { return multiply(x[0], 2.5F); }},
      {"silu(a)*b+1", silu_text, silu, false},
      {"normalise", always("(x * (1.0f / 255.0f) - 0.45f) * (1.0f / 0.225f)"),
       [](Sources x) -> Scalar { return (as_double(x[0]) / 255 - 0.45) / 0.225; }, false},
  };
  return all;
}

}  // namespace

double Expression::tolerance(ElementType type) const {
  if (exact) return 0;
  switch (type) {
    case ElementType::f64: return 1e-14;
    case ElementType::f32: return 2e-6;
    case ElementType::bf16: return 1.0 / 128;
    default: return 1.0 / 8;
  }
}

const Expression& find_expression(std::string_view name) {
  for (const Expression& expression : expressions()) {
    if (expression.name == name) return expression;
  }
  throw tmajit::Error(tmajit::ErrorCode::internal, fmt::format("no expression is called '{}'", name));
}

}  // namespace bench
