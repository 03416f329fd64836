#include "captured_log.hpp"
#include "ops/tuning_store.hpp"
#include "temporary_folder.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::CapturedLog;

namespace {

/// A shape class that no move has. Different numbers give different classes.
ShapeClass class_number(std::uint8_t n) {
  return {.family = "rows", .element_bytes = 4, .rank = 200, .access = {n}};
}

TunedChoice sample(std::uint8_t n, double microseconds = 1) {
  return {.chip = "NVIDIA H200",
          .shape_class = class_number(n),
          .choice = {.family = "rows", .numbers = {{"tile", {1024}, true}, {"threads", {128}}}},
          .microseconds = microseconds};
}

Runtime runtime_over(const std::filesystem::path& folder) {
  return Runtime({.device = nullptr, .cache_directory = folder, .compile = {}});
}

std::string file_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

TEST_CASE("a choice that one runtime stores is found by the next runtime") {
  const TemporaryFolder folder;
  const auto cache = folder.path() / "deep" / "cache";
  auto first = runtime_over(cache);
  CHECK_FALSE(tuning(first).find("NVIDIA H200", class_number(1)).has_value());
  CHECK_FALSE(std::filesystem::exists(cache));
  CHECK(remember(first, sample(1)));
  CHECK(tuning(first).find("NVIDIA H200", class_number(1)) == sample(1));
  auto next = runtime_over(cache);
  CHECK(tuning(next).find("NVIDIA H200", class_number(1)) == sample(1));
  // The file has only stored choices, not the shipped ones.
  TuningTable file;
  file.load(cache / "tuning.json");
  CHECK(file.all() == std::vector{sample(1)});
  // Clearing the kernel cache does not remove the file.
  CHECK(DiskCache(cache).clear() == 0);
  CHECK(std::filesystem::exists(cache / "tuning.json"));
}

TEST_CASE("several choices are stored at once") {
  const TemporaryFolder folder;
  const std::vector choices{sample(1), sample(2), sample(3)};
  const auto runtime = runtime_over(folder.path());
  CHECK(remember(runtime, choices));
  CHECK(tuning(runtime).find("NVIDIA H200", class_number(3)) == sample(3));
  TuningTable file;
  file.load(folder.path() / "tuning.json");
  CHECK(file.all() == choices);
}

TEST_CASE("the file is read when choices are first used, and its choices replace shipped ones") {
  const TemporaryFolder folder;
  auto runtime = runtime_over(folder.path());
  TuningTable file;
  for (const auto& shipped : TuningTable::shipped().all()) {
    auto other = shipped;
    other.choice.numbers.front().values[0] = 31;
    file.add(other);
  }
  file.add(sample(1));
  file.save(folder.path() / "tuning.json");
  CHECK(tuning(runtime).all() == file.all());
  file.add(sample(2));
  file.save(folder.path() / "tuning.json");
  CHECK_FALSE(tuning(runtime).find("NVIDIA H200", class_number(2)).has_value());
}

TEST_CASE("a runtime without a cache directory keeps choices in memory") {
  Runtime runtime({.device = nullptr, .cache_directory = std::nullopt, .compile = {}});
  CHECK(tuning(runtime).all() == TuningTable::shipped().all());
  CHECK(remember(runtime, sample(1)));
  CHECK(tuning(runtime).find("NVIDIA H200", class_number(1)) == sample(1));
}

TEST_CASE("a broken file is logged, ignored and not changed") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "tuning.json";
  const std::string broken =
      R"({"tmajit": "0.1.0", "class_version": 3, "choice_version": 2, "choices": [{"chip": 7}]})";
  std::ofstream(path) << broken;
  auto runtime = runtime_over(folder.path());
  const CapturedLog log;
  CHECK(tuning(runtime).all() == TuningTable::shipped().all());
  CHECK_THAT(log.text(), ContainsSubstring("tuned choices are not read: ") &&
                             ContainsSubstring("tuning.json: choices[0]"));
  CHECK_FALSE(remember(runtime, sample(1)));
  CHECK_THAT(log.text(), ContainsSubstring("a tuned choice is not stored: "));
  CHECK(tuning(runtime).find("NVIDIA H200", class_number(1)) == sample(1));
  CHECK(file_text(path) == broken);
}

TEST_CASE("a cache directory that cannot be created gives a warning, and no choice is stored") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "no folder";
  auto runtime = runtime_over(folder.path() / "file");
  const CapturedLog log;
  CHECK_FALSE(remember(runtime, sample(1)));
  CHECK_THAT(log.text(), ContainsSubstring("Not a directory"));
  CHECK(tuning(runtime).find("NVIDIA H200", class_number(1)).has_value());
}

TEST_CASE("choices are neither read from nor stored in a folder that other users may write to") {
  const TemporaryFolder folder;
  REQUIRE(remember(runtime_over(folder.path()), sample(1)));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  auto runtime = runtime_over(folder.path());
  const CapturedLog log;
  CHECK_FALSE(tuning(runtime).find("NVIDIA H200", class_number(1)).has_value());
  CHECK_FALSE(remember(runtime, sample(2)));
  CHECK(tuning(runtime).find("NVIDIA H200", class_number(2)) == sample(2));
  CHECK_THAT(log.text(), ContainsSubstring("others may write to it") && ContainsSubstring("chmod go-w"));
  TuningTable file;
  file.load(folder.path() / "tuning.json");
  CHECK(file.all() == std::vector{sample(1)});
}

TEST_CASE("threads and processes that store choices concurrently lose none") {
  const TemporaryFolder folder;
  constexpr int processes = 4;
  constexpr int threads = 3;
  constexpr int choices = 10;
  std::vector<::pid_t> children;
  for (int process = 0; process < processes; ++process) {
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    std::atomic<bool> stored = true;
    {
      TuningStore store(folder.path());
      std::vector<std::jthread> running;
      running.reserve(threads);
      for (int thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
          for (int i = 0; i < choices; ++i) {
            const int number = (process * threads + thread) * choices + i;
            if (!store.remember({sample(static_cast<std::uint8_t>(number))})) stored = false;
          }
        });
      }
    }
    ::_exit(stored ? 0 : 1);
  }
  for (const auto child : children) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  TuningTable file;
  file.load(folder.path() / "tuning.json");
  CHECK(file.all().size() == std::size_t{processes} * threads * choices);
  // No lock files and pending files are left.
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (!entry.is_directory()) files.push_back(entry.path());
  }
  CHECK(files == std::vector{folder.path() / "tuning.json"});
}
