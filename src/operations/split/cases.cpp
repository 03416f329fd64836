#include "operations/cases.hpp"

#include "operations/drawing/draw_parts.hpp"

#include <utility>

namespace reference::split_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  const DrawnParts drawn = draw_parts(draw);
  std::vector<std::int64_t> extents;
  for (const Shape& part : drawn.parts) {
    extents.push_back(static_cast<std::int64_t>(part[drawn.axis]));
    draw.add_destination(draw.view(draw.type, part, false));
  }
  draw.test_case.arguments = {{"axis", static_cast<std::int64_t>(drawn.axis)}, {"parts", extents}};
  draw.add_source(draw.view(draw.same_size_type(), drawn.whole, true));
}

void add_benchmark_cases(bench::CaseBuilder& list) {
  for (BenchmarkParts& parts : benchmark_parts(list)) {
    std::vector<std::int64_t> extents;
    bench::Array whole = parts.arrays.front();
    whole.shape[parts.axis] = 0;
    for (const bench::Array& part : parts.arrays) {
      extents.push_back(static_cast<std::int64_t>(part.shape[parts.axis]));
      whole.shape[parts.axis] += part.shape[parts.axis];
    }
    list.add("split", parts.name, "split", {whole}, {{"axis", std::int64_t{parts.axis}}, {"parts", extents}});
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case, .add_benchmark_cases = add_benchmark_cases};

}  // namespace reference::split_operation
