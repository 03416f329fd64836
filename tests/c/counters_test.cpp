/// Counters, history and the function for each kernel through the C interface.
#include "temporary_folder.hpp"

#include <tmajit/c.h>

#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

TEST_CASE("C programs see where kernels came from") {
  const TemporaryFolder folder;
  const std::string stats = folder / "stats";
  const std::string dump = folder / "dump";
  std::vector<std::string> told;
  tmajit_runtime_options options{};
  options.size = sizeof options;
  options.device = TMAJIT_DEVICE_NONE;
  options.cache_directory = "";
  options.statistics_directory = stats.c_str();
  options.dump_directory = dump.c_str();
  options.on_kernel = [](void* context, const tmajit_kernel_record* record) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(record->entry);
  };
  options.on_kernel_context = &told;
  tmajit_runtime* runtime = nullptr;
  REQUIRE(tmajit_runtime_make(&options, &runtime, nullptr) == TMAJIT_OK);

  tmajit_kernel_source source{};
  source.size = sizeof source;
  source.text = "extern \"C\" __global__ void counted(float* x) { *x = 1; }";
  for (int i = 0; i < 3; ++i) {
    tmajit_kernel* kernel = nullptr;
    REQUIRE(tmajit_kernel_make(runtime, &source, &kernel, nullptr) == TMAJIT_OK);
    tmajit_kernel_destroy(kernel);
  }
  CHECK(told == std::vector<std::string>{"counted"});
  CHECK(std::filesystem::exists(dump));
  CHECK_FALSE(std::filesystem::is_empty(stats));

  tmajit_counters counters{};
  counters.size = sizeof counters;
  REQUIRE(tmajit_runtime_counters(runtime, &counters, nullptr) == TMAJIT_OK);
  CHECK(counters.compiles == 1);
  CHECK(counters.memory_hits == 2);
  CHECK(counters.compile_ms > 0);
  CHECK(counters.served == 0);

  tmajit_history* history = nullptr;
  REQUIRE(tmajit_runtime_history(runtime, &history, nullptr) == TMAJIT_OK);
  tmajit_runtime_destroy(runtime);
  REQUIRE(tmajit_history_count(history) == 1);
  tmajit_kernel_record record{};
  record.size = sizeof record;
  REQUIRE(tmajit_history_kernel(history, 0, &record, nullptr) == TMAJIT_OK);
  CHECK(std::strlen(record.key) == 64);
  CHECK(std::string(record.entry) == "counted");
  CHECK(std::string(record.operation).empty());
  CHECK(record.level == TMAJIT_LEVEL_COMPILED);
  CHECK(record.made_by == TMAJIT_MADE_BY_CALLER);
  CHECK(record.unix_ms > 1'700'000'000'000);
  CHECK(tmajit_history_kernel(history, 1, &record, nullptr) == TMAJIT_INVALID_ARGUMENT);
  CHECK(tmajit_history_count(nullptr) == 0);
  tmajit_history_destroy(history);
}

TEST_CASE("a fleet's options come through the C interface, and illegal ones are refused") {
  const TemporaryFolder folder;
  const std::string url = "file://" + (folder / "shared");
  tmajit_fleet_options fleet{};
  fleet.size = sizeof fleet;
  fleet.url = url.c_str();
  tmajit_runtime_options options{};
  options.size = sizeof options;
  options.device = TMAJIT_DEVICE_NONE;
  options.cache_directory = "";
  options.fleet = &fleet;
  tmajit_kernel_source source{};
  source.size = sizeof source;
  source.text = "extern \"C\" __global__ void shared_kernel(float* x) { *x = 2; }";
  for (const bool is_first : {true, false}) {
    tmajit_runtime* runtime = nullptr;
    REQUIRE(tmajit_runtime_make(&options, &runtime, nullptr) == TMAJIT_OK);
    tmajit_kernel* kernel = nullptr;
    REQUIRE(tmajit_kernel_make(runtime, &source, &kernel, nullptr) == TMAJIT_OK);
    tmajit_counters counters{};
    counters.size = sizeof counters;
    REQUIRE(tmajit_runtime_counters(runtime, &counters, nullptr) == TMAJIT_OK);
    CHECK(counters.compiles == (is_first ? 1 : 0));
    CHECK(counters.fleet_hits == (is_first ? 0 : 1));
    tmajit_kernel_destroy(kernel);
    tmajit_runtime_destroy(runtime);
  }
  tmajit_runtime* runtime = nullptr;
  fleet.url = "http://host";
  CHECK(tmajit_runtime_make(&options, &runtime, nullptr) == TMAJIT_INVALID_ARGUMENT);
  fleet.url = url.c_str();
  fleet.max_wait_ms = 1'000'000'000'000;
  CHECK(tmajit_runtime_make(&options, &runtime, nullptr) == TMAJIT_INVALID_ARGUMENT);
}
