#include "operations/cases.hpp"

#include "operations/drawing/draw_indexed.hpp"

namespace reference::scatter_operation {
namespace {

void draw_test_case(TestCaseDraw& draw) {
  draw_indexed_case(draw, DrawnUse::scatter);
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case};

}  // namespace reference::scatter_operation
