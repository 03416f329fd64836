/// `jitc run` and `jitc tune` on a GPU.
#include "subprocess.hpp"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("operations on a GPU agree with loops on the host, and are timed", "[gpu]") {
  require_hopper();
  const auto move = GENERATE(values<std::vector<std::string>>({
      {"permute", "--axes", "1,0", "--shape", "1024x2048", "--type", "bf16"},
      {"permute", "--axes", "1,0", "--shape", "1023x2049", "--type", "u8"},
      {"permute", "--axes", "0,2,1,3", "--shape", "8x32x64x128"},
      {"permute", "--axes", "5,4,3,2,1,0", "--shape", "8x9x10x11x12x13", "--type", "u16"},
      {"copy", "--slice", "100:900,64:960:2", "--shape", "1000x1000", "--offset", "1"},
      {"pad", "--pad", "1,2:3,4", "--pad-value", "0.5", "--shape", "1000x1000", "--type", "f16"},
      {"cast", "--out-dtype", "bf16", "--shape", "1000x1001"},
      {"copy", "--shape", "301x77", "--type", "u8", "--box", "16x16"},
      {"bulk", "--expr", "x", "--shape", "3x5x1031"},
      {"general", "--shape", "30x40x50", "--axes", "2,0,1", "--pad", "1,2,3"},
      {"concat", "--axis", "1", "--parts", "100,200,300", "--shape", "1000x1"},
      {"map", "--expr", "x * 0.125f", "--shape", "999x1001", "--then", "softmax", "--then",
       "cast --out-dtype bf16"},
      {"softmax", "--shape", "100x1000", "--then", "pad --pad 1,1:1,1", "--then", "reduce_into --op add"},
  }));
  std::vector<std::string> words{"run"};
  words.insert(words.end(), move.begin(), move.end());
  words.insert(words.end(), {"--device", "gpu", "--check", "--repeat", "3"});
  const auto json = jitc_json(words);
  CHECK(json.at("check").at(0).at("wrong") == 0);
  CHECK(json.at("check").at(0).at("stray_bytes") == 0);
  const auto& run = json.at("run");
  CHECK(run.at("device").at("simulated") == false);
  CHECK(run.at("gb_per_s").get<double>() > 0);
  CHECK(run.at("driver_copy").at("gb_per_s").get<double>() > 0);
}

TEST_CASE("jitc tune finds and stores a choice, which later plans use", "[gpu]") {
  require_hopper();
  const Folder cache;
  const std::vector<std::string> move{"permute", "--axes", "1,0", "--shape", "2048x4096", "--type", "bf16"};
  const auto words = [&](const std::string& command, std::vector<std::string> more) {
    std::vector<std::string> all{command, "--cache-dir", cache.path().string()};
    all.insert(all.end(), move.begin(), move.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto tuned = jitc_json(words("tune", {"--repeat", "3"})).at("tuned").at(0);
  REQUIRE_FALSE(tuned.at("candidates").empty());
  const auto& candidates = tuned.at("candidates");
  CHECK(candidates[0].at("microseconds").get<double>() > 0);
  CHECK(std::is_sorted(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
    return a.at("microseconds").template get<double>() < b.at("microseconds").template get<double>();
  }));
  const auto known = jitc_json({"tune", "--list", "--cache-dir", cache.path().string()}).at("choices");
  CHECK(std::any_of(known.begin(), known.end(), [&](const auto& choice) {
    return choice.at("class") == tuned.at("shape_class") && choice.at("choice") == candidates[0].at("choice");
  }));
  const auto step = jitc_json(words("explain", {"--device", "gpu"})).at("steps").at(0);
  CHECK(step.at("choice") == candidates[0].at("choice"));
  CHECK(step.at("tuned") == true);
}

TEST_CASE("jitc tune of a file finds constants and stores them in its launch description", "[gpu]") {
  require_hopper();
  const std::string own = JITC_EXAMPLE_OWN;
  const Folder folder;
  const std::string saved = folder / "best.json";
  const auto json = jitc_json({"tune", own + "/scale.cu", "--launch", own + "/scale.json", "--values",
                               "rows=2,4,8,400", "--save", saved});
  CHECK(json.at("candidates").size() == 3);
  CHECK(json.at("left_out").size() == 1);  // a box of 400 rows
  const auto best = json.at("candidates").at(0).at("constants").at("rows").get<std::string>();
  CHECK_THAT(read_file(saved),
             ContainsSubstring("\"rows\": \"" + best + "\"") && ContainsSubstring("ceil_div(30, rows)"));
}
