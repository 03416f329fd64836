#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("jitc validate of a legal tile gives exit code 0") {
  const std::vector<std::string> arguments{"validate", "copy",  "--shape", "4096x4096", "--dtype",
                                           "bf16",     "--box", "64x64",   "--swizzle", "128B"};
  const auto result = jitc::test::jitc(arguments);
  CHECK(result.status == 0);
  CHECK_THAT(result.out, StartsWith("legal: ") && ContainsSubstring("64x64"));
  const auto json = jitc_json(arguments);
  CHECK(json.at("legal") == true);
  CHECK(json.at("violations").empty());
  CHECK(json.at("plan").at("steps").at(0).at("spec").at("family") == "copy");
}

TEST_CASE("jitc validate of an illegal tile prints a table of all broken rules: exit code 2") {
  const std::vector<std::string> arguments{"validate",  "copy", "--shape", "10x10", "--box",   "3x3",
                                           "--swizzle", "64B",  "--oob",   "nan",   "--dtype", "i32"};
  const auto result = jitc::test::jitc(arguments);
  CHECK(result.status == 2);
  for (const auto* text :
       {"RULE", "SUBJECT", "FOUND", "NEED", "NEAREST LEGAL", "SOURCE", "box.inner-bytes", "strides.multiple",
        "oob-fill.type", "12 bytes", "box[1] = 4", "cuTensorMapEncodeTiled"}) {
    INFO(text << "\n" << result.out);
    CHECK_THAT(result.out, ContainsSubstring(text));
  }
  CHECK_THAT(result.err, ContainsSubstring("5 rules broken"));
  const auto json = jitc_json(arguments, 2);
  CHECK(json.at("legal") == false);
  CHECK(json.at("violations").size() == 5);
}

namespace {

/// The broken rules in the JSON output of a `jitc validate` command. Checks that its table and count agree.
std::vector<std::string> broken_rules(const std::vector<std::string>& words) {
  std::vector<std::string> rules;
  const auto json = jitc_json(words, 2);
  CHECK(json.at("legal") == false);
  const auto result = jitc::test::jitc(words);
  CHECK(result.status == 2);
  for (const auto& violation : json.at("violations")) {
    rules.push_back(violation.at("rule").get<std::string>());
    CHECK_THAT(result.out, ContainsSubstring(rules.back()));
  }
  CHECK_THAT(result.err,
             ContainsSubstring(std::to_string(rules.size()) + (rules.size() == 1 ? " rule" : " rules")));
  return rules;
}

using Rules = std::vector<std::string>;

}  // namespace

TEST_CASE("a tile's output may not overlap itself, checked exactly") {
  CHECK(broken_rules({"validate", "copy", "--shape", "2x2x2x4", "--box", "1x1x1x4", "--out-strides",
                      "20,12,8,1"}) == Rules{"view.overlap"});
  CHECK(broken_rules({"validate", "copy", "--shape", "2x2x2x4", "--box", "1x1x1x4", "--out-strides",
                      "32,12,20,1"}) == Rules{"view.overlap"});
  // 24 is not a sum of the other strides, so every element has its own address.
  const auto json =
      jitc_json({"validate", "copy", "--shape", "2x2x2x4", "--box", "1x1x1x4", "--out-strides", "24,12,8,1"});
  CHECK(json.at("legal") == true);
}

TEST_CASE("element strides that do not divide the box are legal") {
  const auto json =
      jitc_json({"validate", "copy", "--shape", "64x64", "--box", "4x32", "--element-strides", "3x1"});
  CHECK(json.at("legal") == true);
}

TEST_CASE("jitc validate reports all broken rules, even if one makes another moot") {
  CHECK(broken_rules({"validate", "copy", "--dtype", "i32", "--shape", "64x64", "--box", "4x3",
                      "--element-strides", "9x1", "--oob", "nan"}) ==
        Rules{"box.inner-bytes", "oob-fill.type", "element-strides.range", "box.inner-bytes"});
  CHECK(broken_rules({"validate", "copy", "--dtype", "i32", "--shape", "1x1x1x1x4x66", "--box",
                      "1x1x1x1x257x3", "--oob", "nan", "--stages", "300"}) ==
        Rules{"rank.range", "stages.range", "box.range", "box.inner-bytes", "oob-fill.type", "box.range",
              "box.inner-bytes", "shared.cta", "strides.multiple", "strides.multiple"});
  const Folder folder;
  write_npy(folder / "a.npy", "<i4", {}, std::string(4, '\0'));
  CHECK(broken_rules({"validate", "copy", "--in", folder / "a.npy", "--oob", "nan", "--stages", "300"}) ==
        Rules{"rank.range", "stages.range", "oob-fill.type"});
}

TEST_CASE("jitc validate reads only the header of an input file") {
  const Folder folder;
  write_npy(folder / "a.npy", "|u1", {100, 7}, std::string(700, '\0'));
  CHECK(jitc::test::jitc({"validate", "copy", "--stages", "2", "--in", folder / "a.npy"}).status == 2);
  write_npy(folder / "a.npy", "|u1", {100, 32}, std::string(3200, '\0'));
  CHECK(jitc::test::jitc({"validate", "copy", "--stages", "2", "--in", folder / "a.npy"}).status == 0);
}

TEST_CASE("jitc validate of a legal operation names the kernels that would run") {
  const std::vector<std::string> words{"validate", "permute", "--axes", "1,0", "--shape", "8192x8192"};
  const auto result = jitc::test::jitc(words);
  CHECK(result.status == 0);
  CHECK_THAT(result.out, StartsWith("legal: transpose ") && ContainsSubstring(" tiles, "));
  const auto json = jitc_json(words);
  CHECK(json.at("legal") == true);
  CHECK(json.at("plan").at("steps").at(0).at("spec").at("family") == "transpose");
  CHECK_THAT(jitc::test::jitc({"validate", "slice", "--slice", "3:3", "--shape", "8"}).out,
             ContainsSubstring("nothing to move"));
  CHECK_THAT(jitc::test::jitc({"validate", "rows", "--shape", "512x512"}).out, StartsWith("legal: rows "));
}

TEST_CASE("jitc validate of an illegal operation prints the same table: exit code 2") {
  const std::vector<std::string> words{"validate", "permute", "--axes",        "1,0",
                                       "--shape",  "64x64",   "--out-strides", "1,1"};
  const auto result = jitc::test::jitc(words);
  CHECK(result.status == 2);
  CHECK_THAT(result.out, ContainsSubstring("RULE") && ContainsSubstring("NEAREST LEGAL"));
  CHECK_THAT(result.err, ContainsSubstring("1 rule broken"));
  const auto json = jitc_json(words, 2);
  CHECK(json.at("legal") == false);
  REQUIRE(json.at("violations").size() == 1);
  CHECK_FALSE(json.at("violations")[0].at("rule").get<std::string>().empty());
  CHECK(json.at("plan").at("steps").empty());
}
