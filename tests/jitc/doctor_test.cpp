#include "subprocess.hpp"

#include <tmajit/device.hpp>

#include <map>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("jitc doctor checks every component, and names a remedy for each missing one") {
  const auto json = jitc_json({"doctor"});
  CHECK(json.at("compiles") == true);
  std::map<std::string, nlohmann::json> checks;
  for (const auto& check : json.at("checks")) checks[check.at("subject").get<std::string>()] = check;
  for (const auto* subject : {"NVRTC", "trial kernel", "nvdisasm", "cache folder", "disk space",
                              "simulated device", "CUDA driver"}) {
    INFO(subject);
    REQUIRE(checks.count(subject) == 1);
    CHECK_FALSE(checks[subject].at("found").get<std::string>().empty());
    if (checks[subject].at("status") != "ok")
      CHECK_FALSE(checks[subject].at("remedy").get<std::string>().empty());
  }
  CHECK(checks["NVRTC"].at("details").at("version").get<std::string>().find('.') != std::string::npos);
  CHECK(checks["simulated device"].at("status") == "ok");
  CHECK((checks["CUDA driver"].at("status") == "ok") == !tmajit::list_gpus().empty());
}

TEST_CASE("jitc doctor reports a cache that other users may write to, with a remedy") {
  const jitc::test::Folder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  const auto result = jitc::test::jitc({"doctor", "--cache-dir", folder.path().string()});
  INFO(result.out);
  CHECK_THAT(result.out, ContainsSubstring("chmod go-w"));
}

TEST_CASE("jitc doctor reports the other components if nvdisasm is missing or the cache is read-only") {
  const auto result = jitc::test::jitc({"doctor", "--cache-dir", "/proc/tmajit"},
                                       {.environment = {"TMAJIT_NVDISASM=/nonexistent"}});
  INFO(result.out);
  CHECK(result.status == 0);
  CHECK_THAT(result.out, ContainsSubstring("TMAJIT_NVDISASM") && ContainsSubstring("--cache-dir"));
}
