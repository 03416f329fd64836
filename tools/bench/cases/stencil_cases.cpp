#include "stencil_cases.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;

constexpr auto five_points = "0.2f * (x + x(-1,0) + x(1,0) + x(0,-1) + x(0,1))";
constexpr auto nine_points =
    "0.25f * x + 0.125f * (x(-1,0) + x(1,0) + x(0,-1) + x(0,1)) + "
    "0.0625f * (x(-1,-1) + x(-1,1) + x(1,-1) + x(1,1))";
constexpr auto seven_points =
    "0.4f * x + 0.1f * (x(-1,0,0) + x(1,0,0) + x(0,-1,0) + x(0,1,0) + x(0,0,-1) + x(0,0,1))";

/// A star that reaches `reach` in three dimensions: differences of a high order.
std::string star(int reach) {
  std::string text = "0.4f * x";
  for (int r = 1; r <= reach; ++r) {
    text += fmt::format(
        " + {0}f * (x(-{1},0,0) + x({1},0,0) + x(0,-{1},0) + x(0,{1},0) + x(0,0,-{1}) + x(0,0,{1}))",
        0.1 / (1 << r), r);
  }
  return text;
}

struct Row {
  const char* what;
  std::string text;
  Shape shape;
  ElementType type = ElementType::f32;
  tmajit::Arguments arguments = {};  ///< but the expression
  bool must = false;                 ///< reach 0.85 of the driver's copy
};

}  // namespace

std::vector<Case> stencil_cases(bool tiny) {
  const Shape square{16384, 16384};
  const Shape cube{512, 512, 1024};
  const std::vector<Row> rows{
      {"5 points", five_points, square, ElementType::f32, {}, true},
      {"9 points", nine_points, square, ElementType::f32, {}, true},
      {"7 points", seven_points, cube, ElementType::f32, {}, true},
      {"3 points", "0.5f * x + 0.25f * (x(-1) + x(1))", {1 << 28}},
      {"5 points, clamp", five_points, square, ElementType::f32, {{"boundary", "clamp"}}},
      {"9 points, wrap", nine_points, square, ElementType::f32, {{"boundary", "wrap"}}},
      {"7 points, reflect", seven_points, cube, ElementType::f32, {{"boundary", "reflect"}}},
      {"7 points, around 1",
       seven_points,
       cube,
       ElementType::f32,
       {{"boundary", "constant"}, {"value", 1.0}}},
      {"5 points of a batch", five_points, {64, 2048, 2048}},
      {"5 points of small pictures", five_points, {65536, 64, 64}},
      {"5 points, channels last",
       five_points,
       {64, 512, 512, 16},
       ElementType::f32,
       {{"dims", tmajit::Dims{1, 2}}}},
      {"3 points down",
       "0.5f * x + 0.25f * (x(-1) + x(1))",
       square,
       ElementType::f32,
       {{"dims", tmajit::Dims{0}}}},
      {"25 points", star(4), cube},
      {"9 points", nine_points, square, ElementType::bf16},
      {"5 points", "0.2 * (x + x(-1,0) + x(1,0) + x(0,-1) + x(0,1))", square, ElementType::f64},
      {"edges", "2 * x - x(-1,0) - x(0,1)", {32768, 32768}, ElementType::u8},
      {"5 points, odd rows", five_points, {16381, 16381}},
  };
  std::vector<Case> cases;
  for (const Row& row : rows) {
    Shape shape = row.shape;
    for (std::uint64_t& extent : shape) extent = tiny && extent > 16 ? 16 + extent % 7 : extent;
    tmajit::Arguments arguments = row.arguments;
    arguments.set("expression", row.text);
    Case c = make_case("stencil", fmt::format("{} ({})", row.what, fmt::join(shape, ",")), "stencil",
                       {{row.type, shape}}, std::move(arguments));
    c.quick = row.must;
    c.odd = shape.back() % 2 != 0;
    if (row.must) c.least_ratio = 0.85;
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace bench
