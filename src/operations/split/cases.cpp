#include "operations/cases.hpp"

#include "operations/drawing/draw_parts.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace reference::split_operation {

using namespace tmajit;

namespace {

void random(CaseDraw& draw) {
  DrawnParts drawn = draw_parts(draw);
  const bool drop_axis = one_in(draw.kernel_random, 4);
  if (drop_axis) {
    drawn.whole[drawn.axis] = drawn.parts.size();
    for (Shape& part : drawn.parts) part.erase(part.begin() + static_cast<std::ptrdiff_t>(drawn.axis));
  }
  std::vector<std::int64_t> extents;
  for (const Shape& part : drawn.parts) {
    extents.push_back(drop_axis ? 1 : static_cast<std::int64_t>(part[drawn.axis]));
    draw.destination(draw.view(draw.type, part, false));
  }
  draw.made.arguments = {{"axis", static_cast<std::int64_t>(drawn.axis)},
                         {"drop_axis", std::string(drop_axis ? "yes" : "no")}};
  // Without parts each index is a part.
  if (!drop_axis || one_in(draw.launch_random, 2)) draw.made.arguments.set("parts", extents);
  draw.source(draw.view(draw.same_size_type(), drawn.whole, true));
}

void measured(bench::CaseBuilder& list) {
  for (MeasuredParts& parts : measured_parts(list)) {
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

const OperationCases cases{.random = random, .measured = measured};

}  // namespace reference::split_operation
