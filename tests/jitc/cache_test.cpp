#include "subprocess.hpp"

#include <filesystem>
#include <fstream>
#include <map>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("jitc cache shows statistics and entries, and clears them") {
  const Folder folder;
  const std::string dir = folder.path().string();
  const auto key =
      jitc_json({"cubin", "copy", "--box", "32x64", "--cache-dir", dir}).at("key").get<std::string>();
  REQUIRE(jitc::test::jitc(
              {"cubin", "map", "--expr", "x", "--box", "32x64", "--cache-dir", dir, "-o", "/dev/null"})
              .status == 0);

  const auto stat = jitc_json({"cache", "stat", "--dir", dir});
  CHECK(stat.at("directory") == dir);
  CHECK(stat.at("entries") == 2);
  CHECK(stat.at("bytes").get<int>() > 0);
  CHECK(stat.at("compilers").size() == 1);
  CHECK_THAT(jitc::test::jitc({"cache", "stat", "--dir", dir}).out, ContainsSubstring("2 kernels"));

  const auto listed = jitc_json({"cache", "ls", "--dir", dir}).at("entries");
  REQUIRE(listed.size() == 2);
  CHECK((listed[0].at("key") == key || listed[1].at("key") == key));
  const auto text = jitc::test::jitc({"cache", "ls", "--dir", dir}).out;
  CHECK_THAT(text, ContainsSubstring(key.substr(0, 8) + "  copy ") && ContainsSubstring("  map "));

  CHECK(jitc_json({"cache", "clear", "--dir", dir}).at("removed") == 2);
  CHECK(jitc_json({"cache", "stat", "--dir", dir}).at("entries") == 0);
  CHECK(jitc_json({"cubin", "copy", "--box", "32x64", "--cache-dir", dir}).at("cache") == "compiled");
}

TEST_CASE("the cache names the operation, the types and the shape that a kernel was made for") {
  const Folder folder;
  const std::string dir = folder.path().string();
  const auto make = [&](const std::vector<std::string>& words) {
    return jitc::test::jitc(std::vector<std::string>{"cubin"} + words +
                            std::vector<std::string>{"--cache-dir", dir, "-o", "/dev/null"})
        .status;
  };
  REQUIRE(make({"cast", "--shape", "100x7", "--dtype", "f32", "--out-dtype", "bf16"}) == 0);
  REQUIRE(make({"reduce", "--op", "sum", "--axes", "1", "--shape", "64x1000"}) == 0);
  std::ofstream(folder / "own.cu") << "extern \"C\" __global__ void own(float* x) { *x = 1; }";
  REQUIRE(make({folder / "own.cu"}) == 0);
  std::map<std::string, nlohmann::json> entries;
  const nlohmann::json listed = jitc_json({"cache", "ls", "--dir", dir});
  for (const auto& entry : listed.at("entries")) entries[entry.at("operation").get<std::string>()] = entry;
  REQUIRE(entries.size() == 3);
  CHECK(entries.at("map").at("types") == "bf16 <- f32");
  CHECK(entries.at("map").at("shape") == "700");
  CHECK(entries.at("reduce").at("types") == "f32");
  CHECK(entries.at("").at("entry") == "own");
  CHECK_THAT(jitc::test::jitc({"cache", "ls", "--dir", dir}).out,
             ContainsSubstring("bf16 <- f32") && ContainsSubstring("  own      own "));
}

TEST_CASE("statistics count kernels by family and by compiler") {
  const Folder folder;
  const std::string dir = folder.path().string();
  for (const std::string box : {"32x64", "64x64"})
    REQUIRE(jitc::test::jitc({"cubin", "copy", "--box", box, "--cache-dir", dir, "-o", "/dev/null"}).status ==
            0);
  const auto stat = jitc_json({"cache", "stat", "--dir", dir});
  CHECK(stat.at("families").size() == 1);
  CHECK(stat.at("families").at("copy").at("entries") == 2);
  CHECK(stat.at("compilers").at(0).at("entries") == 2);
  CHECK(stat.at("compilers").at(0).at("bytes") == stat.at("bytes"));
  CHECK_THAT(jitc::test::jitc({"cache", "stat", "--dir", dir}).out, ContainsSubstring("copy    2  "));
}

TEST_CASE("jitc cache verify finds broken entries and removes them on request") {
  const Folder folder;
  const std::string dir = folder.path().string();
  REQUIRE(jitc::test::jitc({"cubin", "copy", "--cache-dir", dir, "-o", "/dev/null"}).status == 0);
  CHECK(jitc_json({"cache", "verify", "--dir", dir}).at("broken").empty());
  std::string broken;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path() / "entries"))
    if (file.is_regular_file()) broken = file.path().string();
  std::filesystem::resize_file(broken, std::filesystem::file_size(broken) - 1);
  const auto found = jitc::test::jitc({"cache", "verify", "--dir", dir});
  CHECK(found.status == 1);
  CHECK_THAT(found.out, ContainsSubstring(broken + ": its length is wrong\n") &&
                            ContainsSubstring("1 kernel, 1 broken"));
  CHECK_THAT(jitc::test::jitc({"cache", "verify", "--dir", dir, "--remove"}).out,
             ContainsSubstring("its length is wrong; removed"));
  CHECK_FALSE(std::filesystem::exists(broken));
  CHECK(jitc_json({"cache", "verify", "--dir", dir}).at("entries") == 0);
}

TEST_CASE("jitc cache trim removes by size and by age") {
  const Folder folder;
  const std::string dir = folder.path().string();
  for (const std::string box : {"32x64", "64x64"})
    REQUIRE(jitc::test::jitc({"cubin", "copy", "--box", box, "--cache-dir", dir, "-o", "/dev/null"}).status ==
            0);
  CHECK(jitc_json({"cache", "trim", "--dir", dir}).at("removed").at("entries") == 0);
  CHECK(jitc_json({"cache", "trim", "--dir", dir, "--older-than", "1h"}).at("remaining").at("entries") == 2);
  CHECK(jitc_json({"cache", "trim", "--dir", dir, "--to", "80KiB"}).at("removed").at("entries") == 1);
  CHECK(jitc_json({"cache", "trim", "--dir", dir, "--to", "0"}).at("remaining").at("bytes") == 0);
}

TEST_CASE("jitc key prints a kernel's key and explains how two kernels' keys differ") {
  const Folder folder;
  const std::string dir = folder.path().string();
  std::map<std::string, std::string> keys;
  for (const std::string box : {"32x64", "64x64"}) {
    const auto made = jitc_json({"cubin", "copy", "--box", box, "--cache-dir", dir, "-o", "/dev/null"});
    keys[box] = made.at("key").get<std::string>();
    CHECK(jitc_json({"key", "copy", "--box", box}).at("key") == keys[box]);
    CHECK(jitc_json({"source", "copy", "--box", box}).at("key") == keys[box]);
  }
  CHECK(jitc_json({"key", "copy", "--box", "32x64"}).at("fields").at("arch") == "sm_90a");
  const auto explained = jitc_json(
      {"key", "--explain", keys["32x64"].substr(0, 16), keys["64x64"].substr(0, 16), "--cache-dir", dir});
  CHECK(explained.at("a") == keys["32x64"]);
  REQUIRE(explained.at("fields").size() == 1);
  CHECK(explained.at("fields").at(0).at("field") == "plan");
  CHECK_FALSE(explained.at("source_lines").at("a").empty());

  const std::string file = folder / ("entries/" + keys["32x64"].substr(0, 2) + "/" + keys["32x64"].substr(2));
  const auto same = jitc::test::jitc({"key", "--explain", file, keys["32x64"], "--cache-dir", dir});
  CHECK_THAT(same.out, ContainsSubstring("The keys are the same."));
  std::ofstream(folder / "own.cu") << "extern \"C\" __global__ void own(float* x) { *x = 1; }";
  CHECK(jitc_json({"key", folder / "own.cu"}).at("fields").at("kind") == "tmajit kernel");
}

TEST_CASE("a cache folder that does not exist counts as empty") {
  const Folder folder;
  const auto missing = folder / "missing";
  CHECK(jitc_json({"cache", "stat", "--dir", missing}).at("entries") == 0);
  CHECK(jitc_json({"cache", "clear", "--dir", missing}).at("removed") == 0);
  CHECK(jitc::test::jitc({"cache", "ls", "--dir", missing}).out.empty());
}

TEST_CASE("a kernel is compiled even if its cache cannot be written") {
  const auto result = jitc::test::jitc({"cubin", "copy", "--cache-dir", "/proc/tmajit", "-o", "/dev/null"});
  INFO(result.err);
  CHECK(result.status == 0);
}
