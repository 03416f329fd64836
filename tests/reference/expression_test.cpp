// Expressions on the host: what is understood, and that it is computed in the types of C++.
#include "reference/expression.hpp"

#include "reference/random.hpp"
#include "seed.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using reference::Expression, reference::Scalar;

namespace {

Scalar value_of(const char* text, const std::vector<Scalar>& x) {
  const auto expression = Expression::parse(text);
  REQUIRE(expression);
  return expression->evaluate(x);
}

}  // namespace

TEST_CASE("expressions have the types and values of C++") {
  reference::Random random(tests::seed(20261125));
  for (int n = 0; n < 1000; ++n) {
    const auto number = [&] { return static_cast<float>(reference::between(random, 1, 4000)) / 1000 - 2; };
    const float a = number();
    const float b = number();
    const double wide = number();
    const auto small = static_cast<std::uint8_t>(random());
    INFO(a << ' ' << b << ' ' << wide << ' ' << int{small});
    CHECK(value_of("x0 * x1 + 1", {a, b}) == Scalar(a * b + 1));
    CHECK(value_of("x0 - -x1 * 2.5f", {a, b}) == Scalar(a - -b * 2.5F));
    CHECK(value_of("x * 0.1", {a}) == Scalar(a * 0.1));
    CHECK(value_of("(x + 200) * 2", {small}) == Scalar((small + 200) * 2));
    CHECK(value_of("x / 3", {small}) == Scalar(small / 3));
    CHECK(value_of("fmaxf(x0, x1)", {a, b}) == Scalar(std::fmax(a, b)));
    CHECK(value_of("sqrt(fabs(x))", {wide}) == Scalar(std::sqrt(std::fabs(wide))));
    CHECK(value_of("__fdividef(x0, 2)", {a}) == Scalar(a / 2));
    // expf takes and returns float.
    CHECK(value_of("expf(x)", {wide}) ==
          Scalar(static_cast<float>(std::exp(static_cast<double>(static_cast<float>(wide))))));
    CHECK(value_of("exp(x)", {wide}) == Scalar(std::exp(wide)));
  }
}

TEST_CASE("what is not understood is no expression") {
  for (const char* text : {"", "x +", "x > 1", "g[0]", "erf(x)", "expf x", "expf(x", "fmaxf(x)", "expf(x, x)",
                           "x8", "1u", "(x", "x)", "x ? 1 : 2", "expf", "2147483648"}) {
    INFO(text);
    CHECK_FALSE(Expression::parse(text));
  }
  // Deep nesting must not overflow the stack.
  CHECK_FALSE(Expression::parse(std::string(100'000, '(') + "x" + std::string(100'000, ')')));
}

TEST_CASE("an expression says whether it rounds once") {
  const auto rounds_once = [](const char* text) { return Expression::parse(text)->rounds_once(); };
  CHECK(rounds_once("x"));
  CHECK(rounds_once("x0 + x1"));
  CHECK(rounds_once("x * 2.5f"));
  CHECK_FALSE(rounds_once("x0 * x1 + 1"));
  CHECK_FALSE(rounds_once("expf(x)"));
}
