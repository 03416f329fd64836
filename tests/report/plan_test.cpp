#include <tmajit/report/fmt.hpp>
#include <tmajit/report/plan.hpp>
#include <tmajit/tiles.hpp>

#include <sstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

MoveStep transpose_step() {
  MoveStep step;
  step.kernel = "transpose";
  step.choice = "transpose 64x64, 256 threads";
  step.why =
      "the destination and the source are contiguous in different dimensions, 1 and 0, so that 16-byte "
      "accesses "
      "on both sides need a turn in shared memory";
  step.canonical = "16384x8192: 8192,1 <- 1,16384";
  step.rewrites = {"dimension 0 of extent 1 is gone", "dimensions 1 and 2 are one of 16384"};
  step.shape = {16384, 8192};
  step.tile = {64, 64};
  step.tiles = 32768;
  step.threads = 256;
  step.stages = 1;
  step.shared_bytes = 16384;
  step.registers = 40;
  step.ctas_per_sm = 6;
  step.bytes_in_flight = 98304;
  step.bytes_read = 536870912;
  step.bytes_written = 536870912;
  step.predicted_us = 262.144;
  step.alternatives = {{"transpose 128x64, 256 threads", 268.5}, {"elements, 256 threads", 1048.576}};
  return step;
}

std::string step_json(const MoveStep& step) {
  MoveExplanation explanation;
  explanation.steps = {step};
  return explanation_json(explanation);
}

}  // namespace

TEST_CASE("the text of an explanation with one step has the expected lines") {
  MoveExplanation explanation;
  explanation.steps = {transpose_step()};
  explanation.shape_class = "2d 4B turned";
  explanation.planning_us = 7.25;
  const auto page =
      explanation_text("permute --axes 1,0", {{"device", "NVIDIA H200, 132 SMs"}}, explanation, 100, false);
  CHECK(page ==
        R"(permute --axes 1,0
  device      NVIDIA H200, 132 SMs
  class       2d 4B turned
  kernel      transpose 64x64, 256 threads
  why         the destination and the source are contiguous in different dimensions, 1 and 0, so
              that 16-byte accesses on both sides need a turn in shared memory
  canonical   16384x8192: 8192,1 <- 1,16384
  rewrites    dimension 0 of extent 1 is gone
              dimensions 1 and 2 are one of 16384
  tiles       32768 tiles of 64x64 in 16384x8192
  CTA         256 threads, 40 registers a thread, 16.0 KiB shared memory, 1 stage
  SM          6 CTAs at a time, 96.0 KiB of loads in flight
  bytes       512.0 MiB read, 512.0 MiB written
  predicted   262.1 µs, 4096 GB/s; chosen by the cost model
  others      CHOICE                         PREDICTED             RELATIVE TIME
              transpose 128x64, 256 threads  268.5 µs, 3999 GB/s   1.02
              elements, 256 threads          1048.6 µs, 1024 GB/s  4.00
  planned in  7.2 µs
)");
}

TEST_CASE("steps are numbered if there are several, and a choice by measurement is named as such") {
  MoveExplanation explanation;
  explanation.steps = {transpose_step(), transpose_step()};
  explanation.steps[1].tuned = true;
  explanation.steps[1].rewrites.clear();
  explanation.steps[1].alternatives.clear();
  const auto page = explanation_text("concat", {}, explanation, 160, false);
  CHECK_THAT(page,
             StartsWith("concat\n  kernel") || StartsWith("concat\nstep 1 of 2\n  kernel      transpose"));
  CHECK_THAT(page, ContainsSubstring("\nstep 2 of 2\n") &&
                       ContainsSubstring("chosen by a measurement (jitc tune)\n"));
}

TEST_CASE("the explanation of a plan without kernels says: nothing to do") {
  CHECK(explanation_text("slice", {}, {}, 100, false) ==
        "slice\n  plan        nothing to move: a dimension has the extent 0\n");
}

TEST_CASE("the JSON of an explanation has every field") {
  MoveExplanation explanation;
  explanation.steps = {transpose_step()};
  explanation.shape_class = "2d 4B turned";
  const auto json = nlohmann::ordered_json::parse(explanation_json(explanation));
  CHECK(json.at("shape_class") == "2d 4B turned");
  const auto& step = json.at("steps").at(0);
  CHECK(step.at("kernel") == "transpose");
  CHECK(step.at("choice") == "transpose 64x64, 256 threads");
  CHECK(step.at("rewrites").size() == 2);
  CHECK(step.at("tile") == std::vector<int>{64, 64});
  CHECK(step.at("shape") == std::vector<int>{16384, 8192});
  CHECK(step.at("tiles") == 32768);
  CHECK(step.at("registers") == 40);
  CHECK(step.at("bytes_in_flight") == 98304);
  CHECK(step.at("tuned") == false);
  CHECK(step.at("alternatives").at(1) ==
        nlohmann::ordered_json{{"choice", "elements, 256 threads"}, {"predicted_us", 1048.576}});
}

TEST_CASE("planned moves can be printed by streams and by fmt") {
  const Runtime runtime({.cache_directory = std::nullopt});
  const auto at = [](const std::vector<std::uint64_t>& shape, DevicePtr address) {
    return Tensor{TensorView::contiguous(ElementType::f32, shape), address};
  };
  const Plan turned = plan(runtime, operation::permute(at({64, 32}, 1 << 20), at({32, 64}, 2 << 20), {1, 0}));
  const std::string text = describe(turned);
  CHECK_THAT(text, StartsWith("f32 64x32 <- f32 32x64: "));
  CHECK_THAT(text, ContainsSubstring(turned.plans().front().choice().text()));
  std::ostringstream out;
  out << turned << "; " << turned.plans().front() << "; " << turned.operation().sources.front().view;
  CHECK(out.str() ==
        fmt::format("{}; {}; {}", turned, turned.plans().front(), turned.operation().sources.front().view));
  CHECK_THAT(describe(plan(runtime, operation::copy(at({0}, 1 << 20), at({0}, 2 << 20)))),
             ContainsSubstring("nothing to move"));
}

TEST_CASE("explanations are complete, both for a planner's kernel and for chosen tiles") {
  const Runtime runtime({.cache_directory = std::nullopt});
  const TensorView view = TensorView::contiguous(ElementType::f32, {256, 128});
  const Tensor to{view, 1 << 20};
  const Tensor from{view, 2 << 20};
  const Plan copied =
      plan(runtime,
           operation::permute(to, {TensorView::contiguous(ElementType::f32, {128, 256}), 2 << 20}, {1, 0}));
  const MoveStep planned = explain(runtime, copied.plans().front());
  CHECK(planned.shape == std::vector<std::uint64_t>{256, 128});
  CHECK_FALSE(planned.canonical.empty());
  CHECK_FALSE(planned.alternatives.empty());
  CHECK(step_json(planned) == step_json(copied.explain().steps.front()));
  const KernelPlan tile =
      plan_tiles({.family = "copy", .destination = to, .sources = {from}, .tiles = {.box = {64, 32}}});
  const MoveStep chosen = explain(runtime, tile);
  CHECK(chosen.shape == std::vector<std::uint64_t>{256, 128});
  CHECK_FALSE(chosen.canonical.empty());
  CHECK(chosen.alternatives.empty());
}
