#include "reference/closeness.hpp"

#include "reference/scalar.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

namespace reference {

using tmajit::ElementType, tmajit::Tensor;

bool computes_in_f32(std::span<const Tensor> sources) {
  return std::ranges::any_of(sources,
                             [](const Tensor& source) { return source.view.type != ElementType::f64; });
}

double sum_tolerance(ElementType type, bool in_f32) {
  constexpr double of_f32 = 1e-5;
  if (!tmajit::is_float(type)) return 0;
  switch (type) {
    case ElementType::f64: return in_f32 ? of_f32 : 1e-13;
    case ElementType::f32:
    case ElementType::f32_ftz: return of_f32;
    case ElementType::tf32:
    case ElementType::tf32_ftz:
    case ElementType::f16: return 1.0 / 512;
    case ElementType::bf16: return 1.0 / 64;
    default: return 1.0 / 4;
  }
}

bool is_close(ElementType type, bool in_f32, const std::byte* a, const std::byte* b) {
  if (same_value(type, a, b)) return true;
  if (!tmajit::is_float(type)) return false;
  const auto value = [type](const std::byte* bytes) {
    return std::visit([](auto v) { return static_cast<double>(v); }, decode(type, bytes));
  };
  const double x = value(a);
  const double y = value(b);
  return std::abs(x - y) <= sum_tolerance(type, in_f32) * std::max({1.0, std::abs(x), std::abs(y)});
}

}  // namespace reference
