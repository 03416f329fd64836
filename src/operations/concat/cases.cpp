#include "operations/cases.hpp"

#include "operations/shared/draw_parts.hpp"

namespace reference::concat_operation {

using namespace tmajit;

namespace {

void random(CaseDraw& draw) {
  const DrawnParts drawn = draw_parts(draw);
  draw.made.arguments.set("axis", static_cast<std::int64_t>(drawn.axis));
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
