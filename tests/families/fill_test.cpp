/// The family fill: the operations that it plans, and its generated sources.
#include "operations/cases.hpp"
#include "seed.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/move.hpp>
#include <tmajit/plan.hpp>

#include <algorithm>
#include <array>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

Tensor filled(ElementType type, std::initializer_list<std::uint64_t> shape) {
  return {TensorView::contiguous(type, std::vector(shape)), 0x10000};
}

KernelPlan fill_plan(const Tensor& destination, std::string_view expression) {
  auto plans = plan_kernels(operation::map(destination, expression, {}));
  REQUIRE(plans.size() == 1);
  return plans.front();
}

}  // namespace

TEST_CASE("an expression of coordinates is a fill, which reads nothing") {
  const KernelPlan plan = fill_plan(filled(ElementType::bf16, {64, 96}), "g[0] == g[1] ? 1.0f : 0.0f");
  CHECK(plan.family().name == "fill");
  CHECK(plan.bytes_read() == 0);
  CHECK(plan.bytes_written() == 64ULL * 96 * 2);
  CHECK(plan.launch_shape().shared_bytes == 0);
  REQUIRE(plan.parameters().size() == 2);
  CHECK(plan.parameters().front().type == "params::ViewsHead<2>");
  CHECK_THAT(plan.why(), ContainsSubstring("reads no tensor"));
}

TEST_CASE("a fill whose expression reads no coordinates treats its destination as one row") {
  const KernelPlan plan = fill_plan(filled(ElementType::f32, {32, 64, 8}), "0.5f");
  CHECK(plan.shape().tile.size() == 1);
  CHECK(plan.key() == fill_plan(filled(ElementType::f32, {64, 32, 8}), "0.5f").key());
}

TEST_CASE("maps without sources are planned by the family fill alone, maps with sources never") {
  const Tensor to = filled(ElementType::f32, {64});
  const std::array sources{filled(ElementType::f32, {64})};
  CHECK_THROWS_WITH(plan_kernels(operation::map(to, "x", sources), {.family = "fill"}),
                    ContainsSubstring("kernels of the family fill cannot do this"));
  CHECK_THROWS_WITH(plan_kernels(operation::map(to, "1", {}), {.family = "general"}),
                    ContainsSubstring("kernels of the family general cannot do this"));
  CHECK(plan_kernels(operation::map(filled(ElementType::f32, {0}), "1", {})).empty());
}

TEST_CASE("a fill's generated source has no code that the fill does not use") {
  const std::string text = source(fill_plan(filled(ElementType::f32, {4096}), "0.5f")).text;
  CHECK_THAT(text, ContainsSubstring("fill_tile(views, sides)"));
  CHECK_THAT(text, !ContainsSubstring("locate_element"));
  CHECK_THAT(text, !ContainsSubstring("load_"));
  CHECK(std::count(text.begin(), text.end(), '\n') < 330);
}

TEST_CASE("every candidate of a random fill is of the family fill") {
  const std::uint64_t seed = tests::seed(20261122);
  INFO("TMAJIT_SEED=" << seed);
  int fills = 0;
  for (std::uint64_t n = 0; n < 200; ++n) {
    const auto test_case = reference::random_test_case("map", seed + n, 0);
    if (!test_case.sources.empty() || test_case.destinations.front().view.elements() == 0) continue;
    INFO(test_case.text());
    const Operation fill = reference::operation_of(test_case, std::array<DevicePtr, 1>{0x7000'0000'0000});
    for (const KernelPlan& plan : plan_candidates(fill.moves.front(), {}))
      CHECK(plan.family().name == "fill");
    ++fills;
  }
  CHECK(fills > 10);
}
