// Expressions on the host: which texts can be parsed, and that they are evaluated in the types of C++.
#include "reference/expression.hpp"

#include "reference/random.hpp"
#include "seed.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using reference::Computed, reference::Expression, reference::Scalar;

namespace {

Computed computed(const char* text, const std::vector<Computed>& x) {
  const auto expression = Expression::parse(text, std::array<std::string_view, 2>{"x", "n"});
  REQUIRE(expression);
  constexpr std::uint64_t g[] = {3, 70'000};
  return expression->evaluate(x, g);
}

Scalar value_of(const char* text, const std::vector<Scalar>& x) {
  return computed(text, {x.begin(), x.end()}).value;
}

double error_of(const char* text, const std::vector<Scalar>& x) {
  return computed(text, {x.begin(), x.end()}).error;
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
    // The operands are converted before the subtraction: −1 · b of an unsigned b would wrap.
    const auto whole = static_cast<std::uint32_t>(random());
    CHECK(value_of("x0 - x1", {a, whole}) == Scalar(a - static_cast<float>(whole)));
    CHECK(value_of("x0 - x1", {wide, whole}) == Scalar(wide - whole));
    CHECK(value_of("x0 - x1", {std::int64_t{7}, whole}) == Scalar(std::int64_t{7} - whole));
    CHECK(value_of("x0 - x1", {small, whole}) == Scalar(small - whole));
    CHECK(value_of("x * 0.1", {a}) == Scalar(a * 0.1));
    CHECK(value_of("(x + 200) * 2", {small}) == Scalar((small + 200) * 2));
    CHECK(value_of("x / 3", {small}) == Scalar(small / 3));
    // A function-style cast after a bracket is no cast in brackets.
    CHECK(value_of("(float(x) + 1) * 2", {small}) == Scalar((static_cast<float>(small) + 1) * 2));
    CHECK(value_of("(as_u8(x))", {small}) == value_of("x", {small}));
    CHECK(value_of("(float)x", {wide}) == Scalar(static_cast<float>(wide)));
    CHECK(value_of("fmaxf(x0, x1)", {a, b}) == Scalar(std::fmax(a, b)));
    CHECK(value_of("sqrt(fabs(x))", {wide}) == Scalar(std::sqrt(std::fabs(wide))));
    CHECK(value_of("__fdividef(x0, 2)", {a}) == Scalar(a / 2));
    // expf takes and returns float.
    CHECK(value_of("expf(x)", {wide}) ==
          Scalar(static_cast<float>(std::exp(static_cast<double>(static_cast<float>(wide))))));
    CHECK(value_of("exp(x)", {wide}) == Scalar(std::exp(wide)));
    CHECK(value_of("x > 0 ? x : -INFINITY", {a}) ==
          Scalar(a > 0 ? a : -std::numeric_limits<float>::infinity()));
    CHECK(value_of("fmaxf(x, NAN)", {a}) == Scalar(a));
    CHECK(value_of("x0 > x1 ? x0 : 1.5f", {a, b}) == Scalar(a > b ? a : 1.5F));
    CHECK(value_of("x0 + 1 <= x1 == 0 ? -1 : 2.0", {a, b}) == Scalar(a + 1 <= b ? 2.0 : -1.0));
    // A negative number is converted to unsigned, and is then larger.
    CHECK(value_of("x > 7", {std::int32_t{-1}}) == Scalar(0));
    CHECK(value_of("x > (unsigned)7", {std::int32_t{-1}}) == Scalar(1));
    CHECK(value_of("(float)x * 0.5f", {small}) == Scalar(static_cast<float>(small) * 0.5F));
    CHECK(value_of("int(x0 * 100) + (int)g[1]", {a}) == Scalar(static_cast<int>(a * 100) + 70'000));
    // The value after a store and a load: integers wrap, floating point saturates and is rounded.
    CHECK(value_of("as_u8(x)", {std::int32_t{258}}) == Scalar(std::uint8_t{2}));
    CHECK(value_of("as_i8(x * 2.0f)", {std::int32_t{-300}}) == Scalar(std::int8_t{-128}));
    CHECK(value_of("as_bf16(x) + as_f16(x)", {1.00390625F}) == Scalar(1.0F + 1.00390625F));
    CHECK(value_of("as_e4m3(x)", {1000.0F}) == Scalar(448.0F));
    CHECK(value_of("x0 / n", {a, 3.0F}) == Scalar(a / 3.0F));
  }
}

TEST_CASE("a product with zero may have either sign if a factor's error allows both signs") {
  using reference::either_zero;
  const auto error = [](double factor, double error_of_factor) {
    const std::array x{Computed(0.0), Computed(factor, error_of_factor)};
    return Expression::parse("x0 * x1")->evaluate(x).error;
  };
  CHECK(error(1.0, 2.0) == either_zero);
  CHECK(error(0.0, either_zero) == either_zero);
  CHECK(error(1.0, 0.5) == 0);
  CHECK(error(1.0, 0.0) == 0);
}

TEST_CASE("a value that may have either sign may be stored as either zero") {
  using reference::either_zero, reference::stored_error;
  CHECK(stored_error(tmajit::ElementType::e5m2, Computed(-1e-9F, 1e-8)) == either_zero);
  CHECK(stored_error(tmajit::ElementType::e5m2, Computed(1e-9F, 1e-10)) == 0);
  CHECK(stored_error(tmajit::ElementType::i8, Computed(0.2F, 0.4)) == 0);
}

TEST_CASE("texts outside the supported syntax are not parsed") {
  for (const char* text : {"",       "x +",    "x >",      "g[0]",       "int(g[8])", "n",    "erf(x)",
                           "expf x", "expf(x", "fmaxf(x)", "expf(x, x)", "x8",        "1u",   "(x",
                           "x)",     "x ? 1",  "x = 1",    "(float)",    "(char)x",   "expf", "2147483648"}) {
    INFO(text);
    CHECK_FALSE(Expression::parse(text));
  }
  // Deep nesting must not overflow the stack.
  CHECK_FALSE(Expression::parse(std::string(100'000, '(') + "x" + std::string(100'000, ')')));
}

TEST_CASE(
    "an expression says whether a kernel gets the same bits, and each value has a bound of the difference") {
  const auto is_exact = [](const char* text) { return Expression::parse(text)->is_exact(); };
  CHECK(is_exact("x"));
  CHECK(is_exact("x0 - x1 + x2"));
  CHECK(is_exact("x * 2.5f"));
  CHECK(is_exact("sqrtf(x)"));
  CHECK(is_exact("x * 2 + 1"));
  CHECK(is_exact("x0 > x1 * 3 ? x0 - x1 : 2 * x2"));
  CHECK_FALSE(is_exact("x0 * x1 + 1"));
  CHECK_FALSE(is_exact("x0 - x1 * 3"));
  CHECK_FALSE(is_exact("x * 0.5f + 1"));
  CHECK_FALSE(is_exact("expf(x)"));
  // If the product is exact, multiplying and adding in one step gives the same result.
  CHECK(error_of("x * 2 + 1", {1.3F}) == 0);
  CHECK(error_of("0.25f * x0 - 0.5f * x1", {1.3F, 0.7F}) == 0);
  CHECK(error_of("x0 * x1 + 1", {std::int32_t{7}, std::int32_t{9}}) == 0);
  // Intermediate results in f32 have the rounding error of f32 even if another source is f64.
  CHECK(error_of("2 * x0 + 3.1f * x0 + x1", {1.3F, 0.7}) > 1e-8);
  CHECK(error_of("2 * x0 + 3.1 * x0 + x1", {1.3, 0.7}) < 1e-14);
  reference::Random random(tests::seed(20261125));
  for (int n = 0; n < 1000; ++n) {
    const auto number = [&] { return static_cast<float>(reference::between(random, 1, 4000)) / 1000 - 2; };
    const float a = number();
    const float b = number();
    const float c = number();
    INFO(a << ' ' << b << ' ' << c);
    const auto between = [](const Computed& value, double other) {
      const double difference = std::fabs(reference::as_double(value.value) - other);
      return difference <= value.error && value.error < 4e-6 * std::fmax(1, std::fabs(other));
    };
    CHECK(between(computed("x0 * x1 + x2", {a, b, c}), std::fma(a, b, c)));
    CHECK(between(computed("x2 - x0 * x1", {a, b, c}), std::fma(-a, b, c)));
    CHECK(between(computed("(x0 * x1 + x2) * x0 - x1", {a, b, c}), std::fma(std::fma(a, b, c), a, -b)));
    CHECK(between(computed("__expf(x0) * x1", {a, b}), std::exp(static_cast<double>(a)) * b));
    CHECK(between(computed("fast_exp(x0) * x1", {a, b}), std::exp(static_cast<double>(a)) * b));
    CHECK(between(computed("fast_exp(x0 - 100)", {a}), 0));  // results below 2^-126 are 0
    CHECK(between(computed("tanhf(x0) > 9 ? x1 : expf(x1)", {a, b}), std::exp(static_cast<double>(b))));
  }
}
