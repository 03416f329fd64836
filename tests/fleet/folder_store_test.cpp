#include "fleet/folder_store.hpp"

#include "cache/layout.hpp"
#include "cache/samples.hpp"
#include "captured_log.hpp"
#include "fleet/fleet_level.hpp"

#include <atomic>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using tests::sample_artifact;
using tests::sample_key;

namespace folder_store_test {
namespace {

const CompilerIdentity nvrtc{13, 0, "build", "/somewhere", "stamp"};

std::unique_ptr<const KernelLevel> level_of(const std::filesystem::path& folder, FleetOptions options = {}) {
  options.url = "file://" + folder.string();
  return make_fleet_level(options);
}

}  // namespace

TEST_CASE("a folder is a fleet's store, and a cache folder, too") {
  const TemporaryFolder folder;
  const auto level = level_of(folder.path() / "shared");
  CHECK_FALSE(level->fetch(sample_key(), false));
  CHECK(level->keep(sample_key(), sample_artifact(), nvrtc));
  CHECK(level->has(sample_key()));
  const auto other_machine = level_of(folder.path() / "shared");
  CHECK(other_machine->fetch(sample_key(), true));
  CHECK(other_machine->all_compilers().size() == 1);
  CHECK(DiskCache(folder.path() / "shared").fetch(sample_key()));
  CHECK(DiskCache(folder.path() / "shared").known_compilers().size() == 1);
}

TEST_CASE("a folder that every user may write to is used with a secret only") {
  const TemporaryFolder folder;
  using std::filesystem::perms;
  std::filesystem::permissions(folder.path(), perms::all);
  {
    const tests::CapturedLog log;
    CHECK_FALSE(level_of(folder.path())->keep(sample_key(), sample_artifact(), nvrtc));
    CHECK_THAT(log.text(), ContainsSubstring("set a secret"));
  }
  const auto level = level_of(folder.path(), {.secret = "secret"});
  CHECK(level->keep(sample_key(), sample_artifact(), nvrtc));
  CHECK(level->fetch(sample_key(), false));
}

TEST_CASE("an entry above the limit, or damaged, is not read from a folder") {
  const TemporaryFolder folder;
  const auto level = level_of(folder.path());
  REQUIRE(level->keep(sample_key(), sample_artifact(5000), nvrtc));
  CHECK_FALSE(level_of(folder.path(), {.max_entry_bytes = 5000})->fetch(sample_key(), false));
  tests::write_file(entry_path(folder.path(), sample_key()), "damaged");
  CHECK_FALSE(level->fetch(sample_key(), false));
}

TEST_CASE("of many threads one takes the lease of a kernel in a folder") {
  const TemporaryFolder folder;
  const FolderStore store(folder.path(), {}, 1 << 20);
  std::atomic<int> taken = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 16; ++i)
      threads.emplace_back(
          [&, i] { taken += store.try_lease(sample_key(), fmt::format("t{}", i)) == Turn::taken; });
  }
  CHECK(taken == 1);
}

TEST_CASE("a lease in a folder ends by release, by time, or is not needed because the kernel is there") {
  const TemporaryFolder folder;
  const FolderStore store(folder.path(), {.lease = 200ms}, 1 << 20);
  CHECK(store.try_lease(sample_key(), "a") == Turn::taken);
  CHECK(store.try_lease(sample_key(), "b") == Turn::busy);
  store.release(sample_key(), "b");  // not its own
  CHECK(store.try_lease(sample_key(), "b") == Turn::busy);
  store.release(sample_key(), "a");
  CHECK(store.try_lease(sample_key(), "b") == Turn::taken);
  std::this_thread::sleep_for(300ms);
  CHECK(store.try_lease(sample_key(), "c") == Turn::taken);
  store.release(sample_key(), "b");  // expired
  CHECK(store.try_lease(sample_key(), "d") == Turn::busy);
  store.put(sample_key(), "kernel");
  CHECK(store.try_lease(sample_key(), "d") == Turn::made);
  CHECK(std::filesystem::is_empty(pending_folder(folder.path())));
}

}  // namespace folder_store_test
