#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("jitc explain needs no GPU and no memory for the tensors") {
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

  const auto json = test::jitc_json(words);
  CHECK(json.at("operation") == "permute");
  CHECK(json.at("arguments") == "--axes 0,2,1,3");
  CHECK(json.at("device").at("name") == "NVIDIA H200");
  CHECK(json.at("device").at("present") == false);
  REQUIRE(json.at("steps").size() == 1);
  CHECK(json.at("steps")[0].at("registers").get<int>() > 0);
  CHECK(json.at("steps")[0].at("tiles").get<std::uint64_t>() > 0);
}

TEST_CASE("jitc explain refuses a missing GPU, the simulated device and unknown operations") {
  CHECK(test::jitc({"explain", "flip", "--flip", "0", "--shape", "9", "--device", "sim"}).status == 2);
  CHECK(test::jitc({"explain", "flip", "--flip", "0", "--shape", "9", "--device", "gpu:77"}).status == 3);
  const auto none = test::jitc({"explain", "frobnicate", "--shape", "9"});
  CHECK(none.status == 2);
  CHECK_THAT(none.err, ContainsSubstring("operations are copy, permute"));
  const auto nothing = test::jitc({"explain", "slice", "--slice", "5:5", "--shape", "9", "--device", "h200"});
  CHECK(nothing.status == 0);
  CHECK_THAT(nothing.out, ContainsSubstring("nothing to move"));
}

TEST_CASE("jitc explain accepts a family's name and a tile of the caller's choice") {
  const auto rows = test::jitc({"explain", "rows", "--shape", "512x512", "--device", "h200"});
  INFO(rows.err);
  CHECK(rows.status == 0);
  CHECK_THAT(rows.out, ContainsSubstring("\n  kernel      rows ") && ContainsSubstring("\n  canonical   "));
  const auto tile = test::jitc({"explain", "copy", "--shape", "64x64", "--box", "8x32", "--device", "h200"});
  INFO(tile.err);
  CHECK(tile.status == 0);
  CHECK_THAT(tile.out, ContainsSubstring("\n  tiles       16 tiles of 8x32 in 64x64\n") &&
                           ContainsSubstring(" registers a thread, "));
  const auto step = test::jitc_json({"explain", "bulk", "--expr", "x", "--shape", "9"}).at("steps").at(0);
  CHECK(step.at("kernel") == "bulk");
  CHECK(step.at("alternatives").empty());
}
