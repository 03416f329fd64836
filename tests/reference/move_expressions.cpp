#include "reference/move_expressions.hpp"

#include <cmath>
#include <type_traits>
#include <variant>

namespace reference {

namespace {

using Values = std::span<const Scalar>;
using Index = std::span<const std::uint64_t>;

/// A function of one value in its own type.
template <typename F>
MoveFunction of_one(F f) {
  return [f](Values x, Index) { return std::visit([&f](auto v) { return scalar(f(v)); }, x[0]); };
}

MoveExpression of_one_source(Random& random, std::uint64_t rank) {
  switch (between(random, 0, rank == 0 ? 5 : 6)) {
    case 0: return {"x", [](Values x, Index) { return x[0]; }};
    case 1: return {"x0 + 1", [](Values x, Index) { return add(x[0], std::int32_t{1}); }};
    case 2: return {"(float)x * 0.5f", of_one([](auto v) { return static_cast<float>(v) * 0.5f; })};
    case 3: return {"x == x ? x : 1", of_one([](auto v) { return v == v ? v : decltype(v){1}; })};
    case 4:
      return {"x > 7 ? 1.5f : -2.0f", of_one([](auto v) {
                // 7 converts to the other type, as in C++: a negative value is above it where that is
                // unsigned.
                using C = decltype(v + 7);
                return static_cast<C>(v) > static_cast<C>(7) ? 1.5f : -2.0f;
              })};
    case 5: return {"sqrtf((float)x)", of_one([](auto v) { return std::sqrt(static_cast<float>(v)); })};
    default: {
      const std::uint64_t d = between(random, 0, rank - 1);
      return {"x + (unsigned)g[" + std::to_string(d) + "]",
              [d](Values x, Index g) { return add(x[0], static_cast<std::uint32_t>(g[d])); }};
    }
  }
}

/// The larger of two in their common type, the second where that is not defined.
Scalar larger(const Scalar& a, const Scalar& b) {
  return std::visit(
      [](auto x, auto y) {
        using C = decltype(x + y);
        return scalar(static_cast<C>(x) > static_cast<C>(y) ? static_cast<C>(x) : static_cast<C>(y));
      },
      a, b);
}

}  // namespace

MoveExpression random_expression(Random& random, std::uint64_t sources, std::uint64_t rank) {
  if (sources == 1) return of_one_source(random, rank);
  if (sources == 2 && one_in(random, 2)) {
    return {"x0 > x1 ? x0 : x1", [](Values x, Index) { return larger(x[0], x[1]); }};
  }
  std::string text = "x0";
  for (std::uint64_t i = 1; i < sources; ++i) text += " + x" + std::to_string(i);
  return {text, [](Values x, Index) {
            Scalar sum = x[0];
            for (std::size_t i = 1; i < x.size(); ++i) sum = add(sum, x[i]);
            return sum;
          }};
}

}  // namespace reference
