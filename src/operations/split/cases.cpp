#include "operations/cases.hpp"

#include "operations/drawing/draw_parts.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace reference::split_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  DrawnParts drawn = draw_parts(draw);
  const bool drop_axis = one_in(draw.kernel_property_random, 4);
  if (drop_axis) {
    drawn.whole[drawn.axis] = drawn.parts.size();
    for (Shape& part : drawn.parts) part.erase(part.begin() + static_cast<std::ptrdiff_t>(drawn.axis));
  }
  std::vector<std::int64_t> extents;
  for (const Shape& part : drawn.parts) {
    extents.push_back(drop_axis ? 1 : static_cast<std::int64_t>(part[drawn.axis]));
    draw.add_destination(draw.view(draw.type, part, false));
  }
  draw.test_case.arguments = {{"axis", static_cast<std::int64_t>(drawn.axis)},
                              {"drop_axis", std::string(drop_axis ? "yes" : "no")}};
  // Without parts each index is a part.
  if (!drop_axis || one_in(draw.launch_parameter_random, 2)) draw.test_case.arguments.set("parts", extents);
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
