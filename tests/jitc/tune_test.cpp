#include "common_permutations.hpp"
#include "subprocess.hpp"

#include <tmajit/device.hpp>
#include <tmajit/tuning.hpp>

#include <algorithm>
#include <numeric>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A cache folder and a file with two choices to import.
struct Choices : Folder {
  Choices() {
    tmajit::TuningTable table;
    table.add({.chip = "an example chip",
               .shape_class = {.family = "transpose", .element_bytes = 4, .rank = 2},
               .choice = {.family = "transpose",
                          .numbers = {{"tile", {64, 64}, true},
                                      {"threads", {256}},
                                      {"vector_bytes", {16}},
                                      {"order", {0}}}},
               .microseconds = 12.5});
    table.add({.chip = "an example chip",
               .shape_class = {.family = "rows", .element_bytes = 4, .rank = 2},
               .choice = {.family = "rows", .numbers = {{"tile", {4096}, true}, {"threads", {256}}}},
               .microseconds = 7.0});
    write_file(*this / "choices.json", table.json());
  }
  [[nodiscard]] std::vector<std::string> tune(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"tune", "--cache-dir", *this / "cache"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

}  // namespace

TEST_CASE("jitc tune imports, lists and exports choices without a GPU") {
  const Choices choices;
  const auto shipped = jitc_json(choices.tune({"--list"})).at("choices").size();
  const auto imported = jitc::test::jitc(choices.tune({"--import", choices / "choices.json", "--list"}));
  INFO(imported.err);
  REQUIRE(imported.status == 0);
  CHECK_THAT(imported.err, ContainsSubstring("import   2 choices from "));
  CHECK_THAT(imported.out, StartsWith("CHIP") && ContainsSubstring("an example chip") &&
                               ContainsSubstring("transpose 64x64") && ContainsSubstring("12.5") &&
                               ContainsSubstring("file\n"));
  const auto listed = jitc_json(choices.tune({"--list"}));
  REQUIRE(listed.at("choices").size() == shipped + 2);
  const auto& all = listed.at("choices");
  const auto first = std::find_if(all.begin(), all.end(),
                                  [](const auto& choice) { return choice.at("microseconds") == 12.5; });
  REQUIRE(first != all.end());
  CHECK(first->at("class").get<std::string>().starts_with("transpose "));
  CHECK(first->at("shipped") == false);

  CHECK(jitc_json(choices.tune({"--export", choices / "again.json"})).at("exported") == 2);
  CHECK(read_file(choices / "again.json") == read_file(choices / "choices.json"));
  const auto printed = jitc::test::jitc(choices.tune({"--export", "-"}));
  CHECK(printed.out == read_file(choices / "choices.json"));
}

TEST_CASE("a broken file of choices changes nothing") {
  const Choices choices;
  static_cast<void>(jitc_json(choices.tune({"--import", choices / "choices.json"})));
  write_file(choices / "broken.json", R"({"tmajit": "0.1.0", "choices": [{"chip": 5}]})");
  const auto broken = jitc::test::jitc(choices.tune({"--import", choices / "broken.json"}));
  CHECK(broken.status == 2);
  CHECK_THAT(broken.err, StartsWith("jitc: error: ") && ContainsSubstring("broken.json"));
  CHECK(jitc_json(choices.tune({"--export", choices / "again.json"})).at("exported") == 2);
  const auto missing = jitc::test::jitc(choices.tune({"--import", choices / "none.json"}));
  CHECK(missing.status == 3);
  CHECK_THAT(missing.err, ContainsSubstring("No such file"));
}

TEST_CASE("wrong usage of jitc tune gives exit code 2") {
  CHECK_THAT(refusal({"tune"}), ContainsSubstring("nothing to do"));
  CHECK_THAT(refusal({"tune", "permute", "--all"}), ContainsSubstring("--all brings operations of its own"));
  CHECK_THAT(refusal({"tune", "permute", "--shape", "4x4"}), ContainsSubstring("permute needs --axes"));
  CHECK_THAT(refusal({"tune", "copy", "--shape", "64x64", "--box", "8x8"}), ContainsSubstring("tile"));
  CHECK_THAT(refusal({"tune", "frobnicate", "--shape", "4x4"}), ContainsSubstring("frobnicate"));
  CHECK_THAT(refusal({"tune", "--all", "--device", "sim"}), ContainsSubstring("tuning needs a GPU"));
  CHECK_THAT(refusal({"tune", "--all", "--types", "f31"}), ContainsSubstring("f31"));
  CHECK_THAT(refusal({"tune", "permute", "--types", "f32", "--dtype", "f32"}),
             ContainsSubstring("--types and --dtype"));
  CHECK_THAT(refusal({"tune", "--list", "--no-cache"}), ContainsSubstring("--no-cache keeps no choices"));
}

TEST_CASE("jitc tune without a GPU is an error") {
  if (!tmajit::list_gpus().empty()) SKIP("this machine has a GPU");
  const auto result = jitc::test::jitc({"tune", "permute", "--shape", "64x64", "--axes", "1,0"});
  CHECK(result.status == 3);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, StartsWith("jitc: error: no Hopper GPU") &&
                             ContainsSubstring("simulated device cannot") &&
                             ContainsSubstring("jitc doctor"));
  CHECK(jitc_json({"tune", "--all"}, 3).at("error").at("code") == "unavailable");
}

TEST_CASE("the list of common permutations has no duplicates and only tensors of at most 4 GiB") {
  std::set<std::pair<std::vector<std::uint64_t>, std::vector<std::uint32_t>>> seen;
  for (const auto& permutation : jitc::common_permutations) {
    std::vector<std::uint32_t> axes(permutation.axes().begin(), permutation.axes().end());
    CHECK(seen.emplace(std::vector(permutation.shape().begin(), permutation.shape().end()), axes).second);
    std::sort(axes.begin(), axes.end());
    for (std::uint32_t d = 0; d < permutation.rank; ++d) CHECK(axes[d] == d);
    std::uint64_t elements = 1;
    for (const auto extent : permutation.shape()) elements *= extent;
    CHECK(elements > 0);
    CHECK(elements * sizeof(float) <= std::uint64_t{4} << 30U);
  }
}
