#include "operations/cases.hpp"

#include "operations/drawing/draw_indexed.hpp"

namespace reference::gather_sum_operation {
namespace {

void draw_test_case(TestCaseDraw& draw) {
  draw.test_case.contents = Contents::whole;
  draw_indexed_case(draw, DrawnUse::gather_sum);
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case};

}  // namespace reference::gather_sum_operation
