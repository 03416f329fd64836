#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("jitc conformance runs the cases of a group and reports that they agree") {
  const auto json = jitc_json({"conformance", "--device", "sim", "--only", "tensor.prefetch", "--seed", "7"});
  CHECK(json.at("agree") == true);
  CHECK(json.at("seed") == 7);
  CHECK(json.at("device").at("simulated") == true);
  REQUIRE(json.at("cases").size() == 1);
  CHECK(json.at("cases")[0].at("case") == "tensor.prefetch");
  CHECK(json.at("cases")[0].at("trials") > 0);
}

TEST_CASE("jitc conformance lists its cases, and refuses an unknown case") {
  const auto json = jitc_json({"conformance", "--list", "--only", "settle"});
  CHECK(json.at("cases").size() > 5);
  for (const auto& each : json.at("cases")) CHECK(each.at("case").get<std::string>().starts_with("settle: "));
  const auto refused = jitc::test::jitc({"conformance", "--only", "tensor.lod"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, ContainsSubstring("did you mean tensor.load?"));
}

TEST_CASE("jitc conformance explains why a device is not available") {
  CHECK(jitc::test::jitc({"conformance", "--device", "cpu"}).status == 2);
  CHECK_THAT(jitc::test::jitc({"conformance", "--device", "gpu:99"}).err, ContainsSubstring("GPU"));
}
