#include "report.hpp"
#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <unistd.h>

using namespace jitc;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

tmajit::MoveStep transpose_step() {
  tmajit::MoveStep step;
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

}  // namespace

TEST_CASE("the page of an explanation") {
  tmajit::MoveExplanation explanation;
  explanation.steps = {transpose_step()};
  explanation.shape_class = "2d 4B turned";
  explanation.planning_us = 7.25;
  // A file is no terminal: no colour.
  const auto page = explanation_page("permute --axes 1,0", {{"device", "NVIDIA H200, 132 SMs"}}, explanation,
                                     100, STDIN_FILENO);
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
  others      CHOICE                         PREDICTED             OF THE CHOSEN
              transpose 128x64, 256 threads  268.5 µs, 3999 GB/s   1.02
              elements, 256 threads          1048.6 µs, 1024 GB/s  4.00
  planned in  7.2 µs
)");
}

TEST_CASE("several steps are told apart, and a choice by measurement is named") {
  tmajit::MoveExplanation explanation;
  explanation.steps = {transpose_step(), transpose_step()};
  explanation.steps[1].tuned = true;
  explanation.steps[1].rewrites.clear();
  explanation.steps[1].alternatives.clear();
  const auto page = explanation_page("concat", {}, explanation, 160, STDIN_FILENO);
  CHECK_THAT(page,
             StartsWith("concat\n  kernel") || StartsWith("concat\nstep 1 of 2\n  kernel      transpose"));
  CHECK_THAT(page, ContainsSubstring("\nstep 2 of 2\n") &&
                       ContainsSubstring("chosen by a measurement (jitc tune)\n"));
}

TEST_CASE("a plan of nothing says so") {
  CHECK(explanation_page("slice", {}, {}, 100, STDIN_FILENO) ==
        "slice\n  plan        nothing to move: a dimension has the extent 0\n");
}

TEST_CASE("the JSON of an explanation has every field") {
  tmajit::MoveExplanation explanation;
  explanation.steps = {transpose_step()};
  explanation.shape_class = "2d 4B turned";
  const auto json = to_json(explanation);
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

TEST_CASE("a plan is explained without a GPU, of tensors that no memory here would hold") {
  const std::vector<std::string> words{"explain", "permute", "--shape", "64x128x256x512", "--axes",
                                       "0,2,1,3", "--type",  "f32",     "--device",       "h200"};
  const auto text = test::jitc(words);
  INFO(text.err);
  REQUIRE(text.status == 0);
  CHECK(text.err.empty());
  CHECK_THAT(text.out, StartsWith("permute --axes 0,2,1,3: f32 64x128x256x512 -> f32 64x256x128x512\n"
                                  "  device      NVIDIA H200, 132 SMs\n") &&
                           ContainsSubstring("\n  canonical   ") && ContainsSubstring("\n  kernel      ") &&
                           ContainsSubstring("\n  tiles       ") &&
                           ContainsSubstring(" registers a thread, ") &&
                           ContainsSubstring("\n  bytes       "));
  CHECK_THAT(text.out, !ContainsSubstring("\x1b"));

  auto with_json = words;
  const auto json = test::jitc_json(with_json);
  CHECK(json.at("operation") == "permute");
  CHECK(json.at("arguments") == "--axes 0,2,1,3");
  CHECK(json.at("device").at("name") == "NVIDIA H200");
  CHECK(json.at("device").at("present") == false);
  REQUIRE(json.at("steps").size() == 1);
  CHECK(json.at("steps")[0].at("registers").get<int>() > 0);
  CHECK(json.at("steps")[0].at("tiles").get<std::uint64_t>() > 0);
}

TEST_CASE("explain names the device that is not there, and refuses the simulated one") {
  CHECK(test::jitc({"explain", "flip", "--flip", "0", "--shape", "9", "--device", "sim"}).status == 2);
  CHECK(test::jitc({"explain", "flip", "--flip", "0", "--shape", "9", "--device", "gpu:77"}).status == 3);
  const auto none = test::jitc({"explain", "frobnicate", "--shape", "9"});
  CHECK(none.status == 2);
  CHECK_THAT(none.err, ContainsSubstring("operations are copy, permute"));
  const auto nothing = test::jitc({"explain", "slice", "--slice", "5:5", "--shape", "9", "--device", "h200"});
  CHECK(nothing.status == 0);
  CHECK_THAT(nothing.out, ContainsSubstring("nothing to move"));
}

TEST_CASE("a family by its name and a tile of the caller's choice are explained, too") {
  const auto rows = test::jitc({"explain", "rows", "--shape", "512x512", "--device", "h200"});
  INFO(rows.err);
  CHECK(rows.status == 0);
  CHECK_THAT(rows.out, ContainsSubstring("\n  kernel      rows ") && ContainsSubstring("\n  canonical   "));
  const auto tile = test::jitc({"explain", "copy", "--shape", "64x64", "--box", "8x32", "--device", "h200"});
  INFO(tile.err);
  CHECK(tile.status == 0);
  CHECK_THAT(tile.out, ContainsSubstring("\n  tiles       16 tiles of 8x32\n") &&
                           ContainsSubstring(" registers a thread, "));
  const auto step = test::jitc_json({"explain", "bulk", "--expr", "x", "--shape", "9"}).at("steps").at(0);
  CHECK(step.at("kernel") == "bulk");
  CHECK(step.at("alternatives").empty());
}
