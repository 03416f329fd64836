// The default types of results are those of NumPy.
#include "operations/shared/result_types.hpp"

#include <tmajit/operations.hpp>

#include <array>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using enum ElementType;

namespace {

constexpr std::array types{i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64};

/// numpy.promote_types() of every pair.
constexpr std::array<std::array<ElementType, types.size()>, types.size()> numpy{{
    {i8, i16, i32, i64, i16, i32, i64, f64, f16, f32, f64},
    {i16, i16, i32, i64, i16, i32, i64, f64, f32, f32, f64},
    {i32, i32, i32, i64, i32, i32, i64, f64, f64, f64, f64},
    {i64, i64, i64, i64, i64, i64, i64, f64, f64, f64, f64},
    {i16, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64},
    {i32, i32, i32, i64, u16, u16, u32, u64, f32, f32, f64},
    {i64, i64, i64, i64, u32, u32, u32, u64, f64, f64, f64},
    {f64, f64, f64, f64, u64, u64, u64, u64, f64, f64, f64},
    {f16, f32, f64, f64, f16, f32, f64, f64, f16, f32, f64},
    {f32, f32, f64, f64, f32, f32, f64, f64, f32, f32, f64},
    {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64},
}};

ElementType made(std::string_view operation, const Arguments& arguments,
                 const std::vector<ElementType>& sources) {
  std::vector<TensorView> views;
  views.reserve(sources.size());
  for (const ElementType type : sources) views.push_back(TensorView::contiguous(type, {4, 6}));
  return destinations_of(operation, views, arguments).front().type;
}

ElementType mapped(std::string_view expression, const std::vector<ElementType>& sources) {
  return made("map", {{"expression", std::string(expression)}}, sources);
}

}  // namespace

TEST_CASE("types are promoted like in NumPy") {
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (std::size_t j = 0; j < types.size(); ++j) {
      INFO(name(types.at(i)) << " and " << name(types.at(j)));
      CHECK(promoted(types.at(i), types.at(j)) == numpy.at(i).at(j));
    }
  }
}

TEST_CASE("promotion is symmetric, and the result holds the values of both types") {
  for (const ElementType a : all_element_types) {
    for (const ElementType b : all_element_types) {
      INFO(name(a) << " and " << name(b));
      const ElementType both = promoted(a, b);
      CHECK(both == promoted(b, a));
      CHECK(promoted(both, a) == both);
      CHECK(size_of(both) >= std::max(size_of(a), size_of(b)));
      CHECK(is_float(both) >= (is_float(a) || is_float(b)));
    }
  }
}

TEST_CASE(
    "found: sums of bytes get a wider type, means and fractional maps of integers a floating-point type") {
  CHECK(made("reduce", {{"op", "sum"}}, {u8}) == u64);
  CHECK(made("reduce", {{"op", "sum"}}, {i16}) == i64);
  CHECK(made("reduce", {{"op", "sum"}}, {bf16}) == bf16);
  CHECK(made("reduce", {{"op", "mean"}}, {i32}) == f64);
  CHECK(made("reduce", {{"op", "mean"}}, {e4m3}) == f32);
  CHECK(made("reduce", {{"op", "max"}}, {u8}) == u8);
  CHECK(made("reduce", {{"op", "arg_max"}}, {f32}) == i64);
  CHECK(made("reduce", {{"op", "all"}}, {f32}) == u8);
  CHECK(made("reduce", {{"op", "sum"}, {"expression", "x * 0.5f"}}, {u8}) == f32);
  CHECK(made("reduce", {{"op", "sum"}, {"epilogue", "sqrt(x / n)"}}, {u8}) == f64);
  CHECK(made("scan", {{"op", "product"}}, {i8}) == i64);
  CHECK(made("scan", {{"op", "min"}}, {i8}) == i8);
  CHECK(mapped("x0 + x1", {i32, f32}) == f64);
  CHECK(mapped("x0 + x1", {u8, i8}) == i16);
  CHECK(mapped("x * 2.5f", {u8}) == f32);
  CHECK(mapped("x * 2.5f", {i32}) == f64);
  CHECK(mapped("x * 1e3", {u8}) == f64);
  CHECK(mapped("x * .5f", {u8}) == f32);
  CHECK(mapped("sqrtf(x)", {u8}) == f32);
  CHECK(mapped("__expf(x)", {i16}) == f32);
  CHECK(mapped("(float)x / 3", {u8}) == f32);
  CHECK(mapped("x * 2 + 1", {u8}) == u8);
  CHECK(mapped("max(x0, x1)", {u8, u16}) == u16);
  CHECK(mapped("x * 2.5", {bf16}) == bf16);
  CHECK(mapped("x0.5", {u8}) == u8);  // "x0.5" contains no number 0.5, as a number cannot begin within a name
  CHECK(mapped("3", {}) == f32);
  CHECK(made("stencil", {{"expression", "0.5f * (x(-1) + x(1))"}}, {u8}) == f32);
}

TEST_CASE(
    "found: a map of integers that calls a floating-point function of CUDA's Math API is floating point") {
  for (const std::string one : {"acosh", "asinh", "atanh", "cospi", "erfcinv", "j0", "lgamma", "logb",
                                "nearbyint", "normcdf", "rcbrt", "rint", "sinpi", "tgamma"}) {
    INFO(one);
    CHECK(mapped(one + "(x)", {u8}) == f64);
    CHECK(mapped(one + "f(x)", {u8}) == f32);
  }
  for (const std::string two : {"atan2", "copysign", "fdim", "ldexp", "nextafter", "remainder", "rhypot"}) {
    INFO(two);
    CHECK(mapped(two + "(x0, x1)", {i16, u8}) == f64);
    CHECK(mapped(two + "f(x0, x1)", {i16, u8}) == f32);
  }
  CHECK(mapped("abs(x)", {i16}) == i16);
  CHECK(mapped("popc_of_rint(x)", {i16}) == i16);  // the name only ends like a function's
}
