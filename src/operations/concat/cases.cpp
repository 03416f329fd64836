#include "operations/cases.hpp"

#include "operations/drawing/draw_parts.hpp"

#include <cstddef>

namespace reference::concat_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  DrawnParts drawn = draw_parts(draw);
  const bool new_axis = one_in(draw.kernel_property_random, 4);
  if (new_axis) {
    drawn.whole[drawn.axis] = drawn.parts.size();
    for (Shape& part : drawn.parts) part.erase(part.begin() + static_cast<std::ptrdiff_t>(drawn.axis));
  }
  draw.test_case.arguments = {{"axis", static_cast<std::int64_t>(drawn.axis)},
                              {"new_axis", std::string(new_axis ? "yes" : "no")}};
  draw.add_destination(draw.view(draw.type, drawn.whole, false));
  for (const Shape& part : drawn.parts)
    draw.add_source(draw.view(draw.same_size_type(), draw.broadcastable(part, drawn.axis), true));
}

void add_benchmark_cases(bench::CaseBuilder& list) {
  for (BenchmarkParts& parts : benchmark_parts(list))
    list.add("concat", parts.name, "concat", std::move(parts.arrays), {{"axis", std::int64_t{parts.axis}}});
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case, .add_benchmark_cases = add_benchmark_cases};

}  // namespace reference::concat_operation
