/// The family fill: what it takes, its sources, and random fills on the simulated device.
#include "families/fills.hpp"
#include "reference/random_moves.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <array>
#include <iostream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

Tensor dense(ElementType type, std::initializer_list<std::uint64_t> shape) {
  return {TensorView::contiguous(type, std::vector(shape)), 0x10000};
}

KernelPlan only_plan(const Tensor& destination, std::string_view expression) {
  auto plans = plan(operation::map(destination, expression, {}));
  REQUIRE(plans.size() == 1);
  return plans.front();
}

}  // namespace

TEST_CASE("an expression of coordinates is a fill, which reads nothing") {
  const KernelPlan plan = only_plan(dense(ElementType::bf16, {64, 96}), "g[0] == g[1] ? 1.0f : 0.0f");
  CHECK(plan.family().name == "fill");
  CHECK(plan.bytes_read() == 0);
  CHECK(plan.bytes_written() == 64 * 96 * 2);
  CHECK(plan.launch_shape().shared_bytes == 0);
  REQUIRE(plan.parameters().size() == 2);
  CHECK(plan.parameters().front().type == "params::ViewsHead<2>");
  CHECK_THAT(plan.why(), ContainsSubstring("reads no tensor"));
}

TEST_CASE("a fill that reads no coordinates walks its destination as one row") {
  const KernelPlan plan = only_plan(dense(ElementType::f32, {32, 64, 8}), "0.5f");
  CHECK(plan.shape().tile.size() == 1);
  CHECK(plan.key() == only_plan(dense(ElementType::f32, {64, 32, 8}), "0.5f").key());
}

TEST_CASE("fills are for no sources, and nothing else is") {
  const Tensor to = dense(ElementType::f32, {64});
  const std::array sources{dense(ElementType::f32, {64})};
  CHECK_THROWS_WITH(plan(operation::map(to, "x", sources), {.family = "fill"}),
                    ContainsSubstring("kernels of the family fill cannot do this"));
  CHECK_THROWS_WITH(plan(operation::map(to, "1", {}), {.family = "general"}),
                    ContainsSubstring("kernels of the family general cannot do this"));
  CHECK(plan(operation::map(dense(ElementType::f32, {0}), "1", {})).empty());
}

TEST_CASE("a fill's source holds what it uses") {
  const std::string text = source(only_plan(dense(ElementType::f32, {4096}), "0.5f")).text;
  CHECK_THAT(text, ContainsSubstring("fill_tile(views, sides)"));
  CHECK_THAT(text, !ContainsSubstring("locate_element"));
  CHECK_THAT(text, !ContainsSubstring("load_"));
  CHECK(std::count(text.begin(), text.end(), '\n') < 320);
}

TEST_CASE("random fills on the simulated device equal the reference, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 15);
  const std::uint64_t seed = reference::seed(20261122);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  Runtime runtime({.device = make_sim_device(), .cache_directory = std::nullopt});
  reference::Random random(seed);
  for (std::uint64_t n = 0; n < cases; ++n) {
    const tests::RandomFill fill = tests::random_fill(random, 3000);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << fill.text());
    CHECK(tests::run_fill(runtime, fill) == "");
  }
}
