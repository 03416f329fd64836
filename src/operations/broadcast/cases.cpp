#include "operations/cases.hpp"

#include "operations/drawing/expressions.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::broadcast_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  const Shape shape = draw.shape();
  draw.test_case.arguments.set("shape", Dims(shape));
  draw.add_destination(draw.view(draw.type, shape, false));
  draw.add_source(draw.view(draw.same_size_type(), draw.broadcastable(shape), true));
}

void add_benchmark_cases(bench::CaseBuilder& list) {
  using enum ElementType;
  const Shape whole{list.scaled_in_matrix(16384), list.scaled_in_matrix(16384)};
  const Shape row{1, list.scaled_in_matrix(16384)};
  const Shape column{list.scaled_in_matrix(16384), 1};
  for (const ElementType type : {f32, bf16}) {
    for (const auto& [name, from] : {std::pair{"a row", row}, std::pair{"a column", column}}) {
      list.add("broadcast", fmt::format("{} to 16384x16384", name), "broadcast", {{type, from}},
               {{"shape", Dims(whole)}});
    }
    list.add(bench::map_or_cast("broadcast", "row + column to 16384x16384", "a+b",
                                {{type, row}, {type, column}}, {type, whole}));
  }
}

bench::Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  const Shape to = draw.shape();
  bench::Case result{
      .group = "random broadcast", .operation = "broadcast", .destinations = {{draw.type, to}}};
  result.arguments.set("shape", Dims(to));
  const std::string source = draw.add_source(result, draw.type, draw.broadcastable(to));
  result.name = fmt::format("{} to ({})", source, fmt::join(to, ","));
  return result;
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::broadcast_operation
