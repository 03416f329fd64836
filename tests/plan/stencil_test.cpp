/// Plans of stencils: the neighbours that expressions read, errors, and kernels.
#include "kernel/stencil_calls.hpp"
#include "plan/moves.hpp"
#include "plan/violations.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/plan.hpp>

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::broken_rules, tests::source_address, tests::Rules, tests::destination_address;

namespace {

constexpr auto five_points = "0.25f * (x0(-1, 0) + x0(1, 0) + x0(0, -1) + x0(0, 1)) - x0";

Tensor stencil_destination(const std::vector<std::uint64_t>& shape) {
  return {TensorView::contiguous(ElementType::f32, shape), destination_address};
}
Tensor stencil_source(const std::vector<std::uint64_t>& shape, DevicePtr shift = 0) {
  return {TensorView::contiguous(ElementType::f32, shape), source_address + shift};
}

KernelPlan planned(const std::vector<std::uint64_t>& shape, const char* expression,
                   const Stencil& stencil = {}, DevicePtr shift = 0) {
  return plan_kernels(operation::stencil(stencil_destination(shape), expression,
                                         {stencil_source(shape, shift)}, stencil))
      .at(0);
}

bool has_map(const KernelPlan& plan) {
  return plan.parameters().front().map_of == 1;
}

std::string mistake(const char* expression, std::uint32_t sources = 1) {
  StencilCalls calls;
  const auto found = read_calls(expression, sources, calls);
  return found ? std::to_string(found->offset) + ": " + found->need : "";
}

}  // namespace

TEST_CASE("stencils: the offsets of neighbours are parsed from the expression, wrong ones refused") {
  StencilCalls calls;
  REQUIRE_FALSE(read_calls("x1 * x0( -1,+2 ) + x0(0,0) + max0(x1(3, -4), x0 (-1, 2))", 2, calls));
  CHECK(calls.offsets == 2);
  CHECK(calls.taps[0] == std::vector<StencilOffsets>{{-1, 2, 0}, {0, 0, 0}});
  CHECK(calls.taps[1] == std::vector<StencilOffsets>{{0, 0, 0}, {3, -4, 0}});

  StencilCalls one;
  REQUIRE_FALSE(read_calls("x(1) + x0(2) + x2 + xs(1)", 1, one));
  CHECK(one.taps[0] == std::vector<StencilOffsets>{{1, 0, 0}, {2, 0, 0}});

  CHECK(mistake("x(i)").starts_with("2: an offset that is a whole number"));
  CHECK(mistake("x(1.5)").starts_with("3: an offset that is a whole number"));
  CHECK(mistake("x()").starts_with("2: an offset that is a whole number"));
  CHECK(mistake("x(1 + 1)").starts_with("4: an offset that is a whole number"));
  CHECK(mistake("x(1u)").starts_with("2: an offset that is a whole number"));
  CHECK(mistake("x(1, 2, 3, 4)").starts_with("10: at most 3 offsets of a neighbour"));
  CHECK(mistake("x(1, 2) + x(1)").starts_with("10: 2 offsets in every call"));
  CHECK(mistake("x(65)").starts_with("2: an offset within 64 of 0"));
}

TEST_CASE("stencils: wrong offsets, dimensions and overlapping tensors are refused") {
  const std::vector<std::uint64_t> shape{32, 64};
  const auto rules = [&](const char* expression, const Stencil& stencil = {}) {
    return broken_rules([&] { return planned(shape, expression, stencil); });
  };
  CHECK(rules("x(i, 0)") == Rules{"stencil.offsets of expression of the destination"});
  CHECK(rules("x * 2") == Rules{"stencil.calls of expression of the destination"});
  CHECK(rules("x(0, 0, 1)") == Rules{"stencil.dims of dimensions of the stencil of the destination"});
  CHECK(rules("x(1)", {.dims = {0, 1}}) ==
        Rules{"stencil.dims of dimensions of the stencil of the destination"});
  CHECK(rules("x(1, 0)", {.dims = {1, -1}}).size() == 1);
  CHECK(rules("x(1)", {.dims = {2}}).size() == 1);
  CHECK(rules("x(1, 0)", {.dims = {1, -2}}).empty());

  // A map may be in place, a stencil may not.
  const Tensor both = stencil_destination(shape);
  CHECK(broken_rules([&] { return plan_kernels(operation::map(both, "x + 1", {both})); }).empty());
  CHECK(broken_rules([&] { return plan_kernels(operation::stencil(both, "x(1)", {both})); }).size() == 1);
  CHECK(tests::refusal([] {
          return planned({64, 64, 64}, "x(64, 64, 64) + x(-64, -64, -64)");
        }).find("have no room in the 232448 bytes of shared memory") != std::string::npos);
}

TEST_CASE("stencils: the copy engine loads views that a tensor map describes, threads load others") {
  CHECK(has_map(planned({1024, 1024}, five_points)));
  CHECK(has_map(planned({1024, 1024}, five_points, {.boundary = Boundary::wrap})));
  CHECK(has_map(planned({3, 64, 64, 64}, "x(1, 0, 0) - x(0, 0, 1)")));
  CHECK(has_map(planned({1 << 20}, "x(1) - x(-1)")));
  CHECK_FALSE(has_map(planned({1024, 1023}, five_points)));
  CHECK_FALSE(has_map(planned({1024, 1024}, five_points, {}, 4)));
  // A stencil of three dimensions loads each plane once: a tile is a plane, and a CTA processes many.
  CHECK(planned({256, 256, 256}, "x(1, 0, 0) + x(-1, 0, 0) + x(0, 1, 0)").shape().tile[0] == 1);
}

TEST_CASE("stencils: a kernel has few rows even for far offsets") {
  const auto rows = [](const KernelPlan& plan) {
    const std::string text = source(plan).text;
    const auto at = text.find("constexpr u32 rows = ");
    REQUIRE(at != std::string::npos);
    return std::stoul(text.substr(at + 21));
  };
  // If the kernel had all rows between the offsets, thousands, NVRTC would take minutes.
  CHECK(rows(planned({64, 64, 9}, "x(64, 64)", {.dims = {0, 1}})) <= 16);
  CHECK(rows(planned({4096, 4096}, "x(-64, 64) + x(64, -64)")) <= 32);
  CHECK(rows(planned({64, 4096, 4096}, "x(-64, 0, 64)")) <= 16);
  CHECK(rows(planned({4096, 4096}, five_points)) <= 18);
}

TEST_CASE("stencils: the family stencil plans all stencils and nothing else") {
  CHECK(planned({64, 64}, five_points).family().name == "stencil");
  CHECK_THROWS_AS(
      plan_kernels(operation::stencil(stencil_destination({64, 64}), five_points, {stencil_source({64, 64})}),
                   {.family = "general"}),
      Error);
  CHECK_THROWS_AS(
      plan_kernels(operation::map(stencil_destination({64, 64}), "x + 1", {stencil_source({64, 64})}),
                   {.family = "stencil"}),
      Error);
}
