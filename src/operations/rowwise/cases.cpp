#include "operations/cases.hpp"

#include "operations/drawing/draw_values.hpp"

#include <tmajit/operations/rowwise.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::rowwise_operation {

using namespace tmajit;
using bench::Case, bench::CaseBuilder;

namespace {

/// Steps of a test, and for each destination whether it has a value for each row only.
struct TestSteps {
  const char* text;
  std::size_t source_count;
  std::vector<bool> by_row;
  std::size_t numbers = 0;
};

const std::vector<TestSteps>& test_steps() {
  static const std::vector<TestSteps> all{
      {"m = max(x); e = expf(x - m); y = e / sum(e)", 1, {false}},
      {"m = max(x); y = x - m - logf(sum(expf(x - m)))", 1, {false}},
      {"u = mean(x); v = mean((x - u) * (x - u)); y = (x - u) / sqrtf(v + 0.5f)", 1, {false}},
      {"y = x0 * x1 / sqrtf(mean(x0 * x0) + 1.0f) + x2", 3, {false}},
      {"a = max(fabsf(x)); y0 = x * 4 / (a + 1); y1 = a", 1, {false, true}},
      {"y0 = arg_max(x); y1 = max(x); y2 = min(x)", 1, {true, true, true}},
      {"m = max(x0); t = sum(x1 == i ? x0 : x0 * 0); y = logf(sum(expf(x0 - m))) + m - t", 2, {true}},
      {"y = x * 2 + i", 1, {false}},
      {"y0 = x0 + x1; y1 = sum(x0 + x1); y2 = x0 - x1", 2, {false, true, false}},
      {"y = sum(x) / n", 1, {true}},
      {"c = any(x) + all(x); y = x + c", 1, {false}},
      {"y = x0 - arg_min(x0) + fmaxf(x1, x0)", 2, {false}},
      {"r = p0 / (max(x) + 9); y0 = x * r + p1; y1 = sum(x + p1)", 1, {false, true}, 2},
      {"y = p0 - sum(x)", 1, {true}, 1},
  };
  return all;
}

/// Draws steps over small whole numbers, whose sums are exact in any order.
void draw_test_case(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  const TestSteps& steps = test_steps().at(between(random, 0, test_steps().size() - 1));
  draw.test_case.contents = Contents::whole;
  Shape shape = one_in(random, 4) ? draw.tensor_shape(1, 8) : draw.tensor_shape(1, 3);
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::vector<bool> in_row(shape.size());
  std::vector<std::int64_t> axes;
  for (std::uint64_t count = one_in(random, 4) ? 2 : 1; count > 0; --count) {
    const std::uint64_t d = one_in(random, 2) ? shape.size() - 1 : between(random, 0, shape.size() - 1);
    if (in_row[d]) continue;
    in_row[d] = true;
    const auto axis = static_cast<std::int64_t>(d);
    axes.push_back(one_in(random, 3) ? axis - rank : axis);
  }
  draw.test_case.arguments = {{"steps", std::string(steps.text)}, {"axes", Dims(axes)}};
  const bool keeps = one_in(random, 3);
  Shape outer;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!in_row[d]) outer.push_back(shape[d]);
    if (in_row[d] && keeps) outer.push_back(1);
  }
  for (const bool by_row : steps.by_row)
    draw.add_destination(draw.view(draw.any_type(), by_row ? outer : shape, false));
  draw_values(draw, shape, 1);
  const ElementType type = draw.any_type();
  for (std::size_t s = 1; s < steps.source_count; ++s)
    draw.add_source(draw.view(one_in(random, 2) ? draw.any_type() : type, draw.broadcastable(shape), true));
  for (std::size_t k = 0; k < steps.numbers; ++k) draw.add_number();
  // In place: the first source is the destination.
  if (!steps.by_row[0] && one_in(random, 8)) draw.test_case.sources[0] = draw.test_case.destinations[0];
}

Case row_case(const char* group, const std::string& name, const char* steps,
              std::vector<bench::Array> sources, ElementType to) {
  Case result = bench::make_case(group, name, "rowwise", std::move(sources), {{"steps", std::string(steps)}});
  result.destinations.front().type = to;
  return result;
}

constexpr auto softmax = "m = max(x); e = expf(x - m); r = 1.0f / sum(e); y = e * r";
constexpr auto rms_norm = "y = x0 * rsqrtf(mean(x0 * x0) + 1e-6f) * x1";
constexpr auto layer_norm = "u = mean(x0); c = x0 - u; y = c * rsqrtf(mean(c * c) + 1e-5f) * x1 + x2";

/// Lists softmax and norms of rows of 32 to 262,144 elements.
void add_benchmark_cases(CaseBuilder& list) {
  for (const ElementType type : {ElementType::bf16, ElementType::f32}) {
    for (const std::uint64_t length : {64, 1024, 4096, 32768, 262144}) {
      const std::uint64_t columns = list.tiny() ? 2 + length % 97 : length;
      const std::uint64_t rows = list.tiny() ? 3 : (std::uint64_t{1} << 27) / length;
      const Shape shape{rows, columns};
      const std::string shape_name = fmt::format("({},{}) {}", rows, columns, name(type));
      list.add(row_case("rows", "softmax " + shape_name, softmax, {{type, shape}}, type));
      list.add(row_case("rows", "RMSNorm " + shape_name, rms_norm, {{type, shape}, {type, {columns}}}, type));
      list.add(row_case("rows", "LayerNorm " + shape_name, layer_norm,
                        {{type, shape}, {type, {columns}}, {type, {columns}}}, type));
    }
  }
}

/// Draws a softmax or a norm of random rows: 2^20 to 2^27 elements.
Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  const ElementType type = draw.random.one_in(2) ? ElementType::bf16 : ElementType::f32;
  const Shape shape = draw.shape(2, std::uint64_t{1} << 20, std::uint64_t{1} << 27);
  const std::string name = fmt::format("({})", fmt::join(shape, ","));
  switch (draw.random.below(3)) {
    case 0: return row_case("random rows", "softmax " + name, softmax, {{type, shape}}, type);
    case 1:
      return row_case("random rows", "RMSNorm " + name, rms_norm, {{type, shape}, {type, {shape[1]}}}, type);
    default:
      return row_case("random rows", "LayerNorm " + name, layer_norm,
                      {{type, shape}, {type, {shape[1]}}, {type, {shape[1]}}}, type);
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::rowwise_operation
