#include "operations/cases.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::stencil_operation {

using namespace tmajit;

namespace {

constexpr std::array types{ElementType::f32,  ElementType::f32, ElementType::f64, ElementType::f16,
                           ElementType::bf16, ElementType::u8,  ElementType::i32, ElementType::i16};

std::string call(Random& random, const std::string& name, std::size_t dims, std::int64_t reach) {
  std::ostringstream out;
  out << name << '(';
  for (std::size_t k = 0; k < dims; ++k) {
    const std::uint64_t offset = between(random, 0, static_cast<std::uint64_t>(2 * reach));
    out << (k > 0 ? ", " : "") << static_cast<std::int64_t>(offset) - reach;
  }
  out << ')';
  return out.str();
}

std::string expression(Random& random, std::size_t sources, std::size_t dims) {
  const auto reach = static_cast<std::int64_t>(between(random, 1, dims == 3 ? 2 : 3));
  const std::uint64_t taps = between(random, 1, 5);
  std::ostringstream out;
  for (std::size_t i = 0; i < sources; ++i) {
    const std::string name = sources == 1 && one_in(random, 3) ? "x" : "x" + std::to_string(i);
    for (std::uint64_t t = 0; t < taps; ++t) {
      if (i + t > 0) out << (one_in(random, 3) ? " - " : " + ");
      if (one_in(random, 2)) out << between(random, 2, 3) << " * ";
      out << (i + t > 0 && one_in(random, 6) ? name : call(random, name, dims, reach));
    }
  }
  return out.str();
}

/// Draws a stencil along 1 to 3 dimensions of tensors of rank 1 to 5, with any types and boundary.
void draw_test_case(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  draw.test_case.contents = Contents::numbers;
  draw.type = one_of(random, types);
  const Shape shape = draw.tensor_shape(1, 5);
  const std::size_t dims = between(random, 1, std::min<std::size_t>(shape.size(), max_stencil_dims));
  const std::size_t sources = one_in(random, 3) ? between(random, 2, 3) : 1;
  draw.test_case.arguments = {
      {"boundary", std::string(one_of(random, std::array{"zero", "constant", "clamp", "wrap", "reflect"}))},
      {"value", one_of(random, std::array{1.5, -2.0, 3.0})}};
  if (!one_in(random, 3)) {
    std::vector<std::int64_t> order(shape.size());
    std::iota(order.begin(), order.end(), one_in(random, 2) ? 0 : -static_cast<std::int64_t>(shape.size()));
    std::shuffle(order.begin(), order.end(), random);
    order.resize(dims);
    draw.test_case.arguments.set("dims", Dims(order));
  }
  const auto view = [&](bool is_source) {
    const ElementType type = one_in(random, 4) ? one_of(random, types) : draw.type;
    return draw.aligned ? draw.row_major_view(type, shape) : draw.view(type, shape, is_source);
  };
  draw.add_destination(view(false));
  for (std::size_t i = 0; i < sources; ++i) draw.add_source(view(true));
  draw.test_case.arguments.set("expression", draw.with_numbers(expression(random, sources, dims)));
}

constexpr auto five_points = "0.2f * (x + x(-1,0) + x(1,0) + x(0,-1) + x(0,1))";
constexpr auto nine_points =
    "0.25f * x + 0.125f * (x(-1,0) + x(1,0) + x(0,-1) + x(0,1)) + "
    "0.0625f * (x(-1,-1) + x(-1,1) + x(1,-1) + x(1,1))";
constexpr auto seven_points =
    "0.4f * x + 0.1f * (x(-1,0,0) + x(1,0,0) + x(0,-1,0) + x(0,1,0) + x(0,0,-1) + x(0,0,1))";

/// A star-shaped stencil in three dimensions with neighbours up to `reach` away, as differences of high
/// order.
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
  Arguments arguments = {};  ///< except the expression
  bool has_goal = false;     ///< it must reach 0.85 of the driver's copy's speed
};

/// Adds stencils of few points on large tensors, which must come near the driver's copy, and stencils with
/// other boundaries, types, layouts and reaches.
void add_benchmark_cases(bench::CaseBuilder& list) {
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
      {"5 points, channels last", five_points, {64, 512, 512, 16}, ElementType::f32, {{"dims", Dims{1, 2}}}},
      {"3 points down", "0.5f * x + 0.25f * (x(-1) + x(1))", square, ElementType::f32, {{"dims", Dims{0}}}},
      {"25 points", star(4), cube},
      {"9 points", nine_points, square, ElementType::bf16},
      {"5 points", "0.2 * (x + x(-1,0) + x(1,0) + x(0,-1) + x(0,1))", square, ElementType::f64},
      {"edges", "2 * x - x(-1,0) - x(0,1)", {32768, 32768}, ElementType::u8},
      {"5 points, odd rows", five_points, {16381, 16381}},
  };
  for (const Row& row : rows) {
    Shape shape = row.shape;
    for (std::uint64_t& extent : shape) extent = list.tiny() && extent > 16 ? 16 + extent % 7 : extent;
    Arguments arguments = row.arguments;
    arguments.set("expression", row.text);
    bench::Case& added = list.add("stencil", fmt::format("{} ({})", row.what, fmt::join(shape, ",")),
                                  "stencil", {{row.type, shape}}, std::move(arguments));
    added.quick = row.has_goal;
    added.odd = shape.back() % 2 != 0;
    if (row.has_goal) added.min_ratio = 0.85;
  }
}

/// The calls of all neighbours in 3D up to `reach` away: those on the axes, or those in a whole box.
std::string neighbours(bool star, int reach) {
  std::vector<std::string> calls;
  for (int i = -reach; i <= reach; ++i) {
    for (int j = -reach; j <= reach; ++j) {
      for (int k = -reach; k <= reach; ++k) {
        const int zeros = (i == 0 ? 1 : 0) + (j == 0 ? 1 : 0) + (k == 0 ? 1 : 0);
        if (zeros != 3 && (zeros == 2 || !star)) calls.push_back(fmt::format("x({},{},{})", i, j, k));
      }
    }
  }
  return fmt::format("0.5f * x + {}f * ({})", 0.5 / static_cast<double>(calls.size()),
                     fmt::join(calls, " + "));
}

/// Draws a star of reach 1 or 2, or a box of reach 1, on a random 3D shape of 2^22 to 2^27 elements. The text
/// of a box of reach 2 would be longer than expressions may be.
bench::Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  const ElementType type = draw.random.one_in(2) ? ElementType::bf16 : ElementType::f32;
  const bool star = !draw.random.one_in(3);
  const int reach = star && draw.random.one_in(2) ? 2 : 1;
  const Shape shape = draw.shape(3, std::uint64_t{1} << 22, std::uint64_t{1} << 27);
  const std::string name = fmt::format("{} {} ({})", star ? "star" : "box", reach, fmt::join(shape, ","));
  return bench::make_case("random stencil", name, "stencil", {{type, shape}},
                          {{"expression", neighbours(star, reach)}});
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::stencil_operation
