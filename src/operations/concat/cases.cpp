#include "operations/cases.hpp"

#include "operations/drawing/draw_parts.hpp"

#include <cstddef>

namespace reference::concat_operation {

using namespace tmajit;

namespace {

void random(CaseDraw& draw) {
  DrawnParts drawn = draw_parts(draw);
  const bool new_axis = one_in(draw.kernel_random, 4);
  if (new_axis) {
    drawn.whole[drawn.axis] = drawn.parts.size();
    for (Shape& part : drawn.parts) part.erase(part.begin() + static_cast<std::ptrdiff_t>(drawn.axis));
  }
  draw.made.arguments = {{"axis", static_cast<std::int64_t>(drawn.axis)},
                         {"new_axis", std::string(new_axis ? "yes" : "no")}};
  draw.destination(draw.view(draw.type, drawn.whole, false));
  for (const Shape& part : drawn.parts)
    draw.source(draw.view(draw.same_size_type(), draw.repeatable(part, drawn.axis), true));
}

void measured(bench::CaseBuilder& list) {
  for (MeasuredParts& parts : measured_parts(list))
    list.add("concat", parts.name, "concat", std::move(parts.arrays), {{"axis", std::int64_t{parts.axis}}});
}

}  // namespace

const OperationCases cases{.random = random, .measured = measured};

}  // namespace reference::concat_operation
