/// jitc with a fill, an operation without inputs.
#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a map whose expression reads only coordinates needs a shape and no file") {
  const Folder folder;
  const auto json = jitc_json({"run", "map", "--expr", "g[0] * 8 + g[1]", "--shape", "4x8", "--type", "i32",
                               "--device", "sim", "--out", folder / "y.npy"});
  CHECK(json.at("run").at("bytes") == 4 * 8 * 4);
  CHECK(json.at("run").at("simulation").at("reports").empty());
  std::vector<std::int32_t> wanted(32);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<std::int32_t>(i);
  CHECK(data_of(folder / "y.npy") == bytes_of(wanted));
}

TEST_CASE("jitc source, validate and explain accept the family fill") {
  const auto source = jitc::test::jitc({"source", "fill", "--expr", "0.5f", "--shape", "64"});
  CHECK(source.status == 0);
  CHECK_THAT(source.out, ContainsSubstring("fill_tile(views, sides)"));
  const auto explained = jitc::test::jitc({"explain", "map", "--expr", "1", "--shape", "8x8"});
  CHECK_THAT(explained.out, ContainsSubstring("reads no tensor"));
  CHECK(jitc::test::jitc({"validate", "fill", "--expr", "1", "--shape", "8"}).status == 0);
  CHECK(jitc::test::jitc({"lint", "fill", "--expr", "g[0]", "--shape", "8x8"}).status == 0);

  const Folder folder;
  write_npy(folder / "x.npy", "<f4", {2}, std::string(8, '\0'));
  const auto given = jitc::test::jitc({"run", "fill", "--expr", "1", "--in", folder / "x.npy"});
  CHECK(given.status == 2);
  CHECK_THAT(given.err, ContainsSubstring("takes no input"));
}
