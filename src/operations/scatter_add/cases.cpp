#include "operations/cases.hpp"

#include "operations/drawing/draw_indexed.hpp"

#include <tmajit/combine.hpp>

namespace reference::scatter_add_operation {
namespace {

void draw_test_case(TestCaseDraw& draw) {
  while (!tmajit::combined_as(tmajit::CombineOp::add, draw.type) && draw.type != tmajit::ElementType::f64)
    draw.type = draw.any_type();
  draw.test_case.contents = Contents::whole;
  draw_indexed_case(draw, DrawnUse::scatter_add);
  draw.test_case.arguments.set("deterministic", one_in(draw.kernel_property_random, 2) ? "yes" : "no");
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case};

}  // namespace reference::scatter_add_operation
