#include "subprocess.hpp"

#include <tmajit/counters.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <unistd.h>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("jitc top shows the counters of running processes as a table and as JSON") {
  const Folder folder;
  const std::string dir = folder / "stats";
  CHECK(jitc_json({"top", "--dir", dir}).at("processes").empty());
  CHECK_THAT(jitc::test::jitc({"top", "--dir", dir}).out, ContainsSubstring("no process publishes"));
  const tmajit::Runtime first({.cache_directory = std::nullopt, .statistics_directory = dir});
  const tmajit::Runtime second({.cache_directory = std::nullopt, .statistics_directory = dir});
  const tmajit::Source source{"extern \"C\" __global__ void shown(float* x) { *x = 1; }", "shown", ""};
  (void)first.kernel(source);
  (void)first.kernel(source);
  (void)second.kernel(source);

  const auto processes = jitc_json({"top", "--dir", dir}).at("processes");
  REQUIRE(processes.size() == 1);
  CHECK(processes[0].at("process") == ::getpid());
  CHECK(processes[0].at("requests").at("compiled") == 2);
  CHECK(processes[0].at("requests").at("memory") == 1);
  CHECK(processes[0].at("times_ms").at("compile").get<double>() > 0);
  CHECK(processes[0].at("last_kernel") == "shown");
  const auto text = jitc::test::jitc({"top", "--once"}, {.environment = {"TMAJIT_STATS_DIR=" + dir}}).out;
  CHECK_THAT(text,
             ContainsSubstring("COMPILED") && ContainsSubstring("test_jitc") && ContainsSubstring("shown"));
}

TEST_CASE("jitc top without a folder is refused with the ways to name one") {
  CHECK_THAT(refusal({"top"}), ContainsSubstring("TMAJIT_STATS_DIR") && ContainsSubstring("--dir"));
}

#ifdef JITC_NVTX_RECORDER
TEST_CASE("a profiler sees ranges of compiles and loads") {
  const std::vector<std::string> words{"run",     "permute", "--shape",  "64x32", "--axes",    "1,0",
                                       "--dtype", "f32",     "--device", "sim",   "--no-cache"};
  const auto profiled =
      jitc::test::jitc(words, {.environment = {std::string("NVTX_INJECTION64_PATH=") + JITC_NVTX_RECORDER}});
  INFO(profiled.err);
  CHECK(profiled.status == 0);
  const auto compile = profiled.err.find("begin tmajit compile ");
  const auto load = profiled.err.find("begin tmajit load tmajit_");
  CHECK(compile != std::string::npos);
  CHECK(load != std::string::npos);
  CHECK(profiled.err.find("end\n", compile) < load);
  CHECK_THAT(jitc::test::jitc(words).err, !ContainsSubstring("tmajit compile"));
}
#endif
