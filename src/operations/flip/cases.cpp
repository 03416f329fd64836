#include "operations/cases.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::flip_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  Shape shape = draw.shape();
  if (shape.empty()) shape = {draw.extent(40)};
  std::vector<std::uint64_t> axes{between(draw.kernel_property_random, 0, shape.size() - 1)};
  if (axes.front() > 0 && one_in(draw.kernel_property_random, 3)) axes.push_back(axes.front() - 1);
  draw.test_case.arguments.set("axes", Dims(axes));
  draw.add_destination(draw.view(draw.type, shape, false));
  draw.add_source(draw.view(draw.same_size_type(), shape, true));
}

void add_benchmark_cases(bench::CaseBuilder& list) {
  using enum ElementType;
  struct Flip {
    ElementType type;
    std::vector<std::uint32_t> axes;
  };
  for (const Flip& flip :
       {Flip{f32, {0}}, Flip{f32, {1}}, Flip{bf16, {1}}, Flip{u8, {1}}, Flip{f32, {0, 1}}}) {
    list.add("flip", fmt::format("16384x16384 along {}", fmt::join(flip.axes, ",")), "flip",
             {{flip.type, {list.scaled_in_matrix(16384), list.scaled_in_matrix(16384)}}},
             {{"axes", Dims(flip.axes)}})
        .quick = flip.type == bf16;
  }
}

bench::Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  const Shape to = draw.shape();
  bench::Case result{.group = "random flip", .operation = "flip", .destinations = {{draw.type, to}}};
  const std::vector<std::uint32_t> axes = draw.some_axes(to.size());
  result.arguments.set("axes", Dims(axes));
  const std::string source = draw.add_source(result, draw.type, to);
  result.name = fmt::format("{} along {}", source, fmt::join(axes, ","));
  return result;
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::flip_operation
