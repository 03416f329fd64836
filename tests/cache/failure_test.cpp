// If a cache cannot be read or written, no call throws, no entry is lost and no incomplete file remains.
#include "cache/layout.hpp"
#include "cache/samples.hpp"
#include "captured_log.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::CapturedLog;
using tests::count_files;
using tests::sample_artifact;
using tests::sample_key;

namespace {

/// Runs `check` in a child process. Returns whether it returned true there.
bool holds_in_child(const std::function<bool()>& check) {
  const auto child = ::fork();
  if (child == 0) {
    bool passed = false;
    try {
      passed = check();
    } catch (...) {
    }
    ::_exit(passed ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Gives up root's rights, since permissions do not restrict root.
bool become_nobody() {
  constexpr ::uid_t nobody = 65534;
  return ::geteuid() != 0 || ::seteuid(nobody) == 0;
}

}  // namespace

TEST_CASE("a cache folder that cannot be created gives one warning in all, not one for each kernel") {
  const TemporaryFolder folder;
  { std::ofstream file(folder.path() / "file"); }
  const CapturedLog log;
  const DiskCache cache(folder.path() / "file" / "cache");
  for (unsigned i = 0; i < 5; ++i) {
    CHECK_FALSE(cache.store(sample_key(i), sample_artifact()));
    CHECK_FALSE(cache.fetch(sample_key(i)));
  }
  cache.remember({.major = 13, .minor = 0, .build = "b", .path = {}});
  CHECK(cache.known_compilers().empty());
  CHECK(log.lines() == 1);
  CHECK_THAT(log.text(),
             ContainsSubstring(cache.directory().string()) && ContainsSubstring("Not a directory"));
}

TEST_CASE("a file system without write access gives one warning") {
  const CapturedLog log;
  CHECK_FALSE(DiskCache("/proc/tmajit").store(sample_key(), sample_artifact()));
  CHECK(log.lines() == 1);
}

TEST_CASE("a full disk leaves no partial entry behind") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store(sample_key(1), sample_artifact(100)));
  CHECK(holds_in_child([&] {
    // Like a full disk, the limit truncates one write and fails the next.
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 10000, .rlim_max = 10000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    const CapturedLog log;
    return !cache.store(sample_key(2), sample_artifact(30000)) && !cache.fetch(sample_key(2)) &&
           cache.fetch(sample_key(1)) && log.lines() == 1;
  }));
  CHECK(count_files(folder.path()) == 2);  // the first entry, and the size
}

TEST_CASE("entries are fetched from a read-only cache") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store(sample_key(1), sample_artifact()));
  for (const auto& path : {folder.path(), entries_folder(folder.path()), pending_folder(folder.path()),
                           entry_path(folder.path(), sample_key(1)).parent_path()}) {
    std::filesystem::permissions(path, std::filesystem::perms(0555));
  }
  CHECK(holds_in_child([&] {
    if (!become_nobody()) return false;
    const CapturedLog log;
    return cache.fetch(sample_key(1)).has_value() && !cache.store(sample_key(2), sample_artifact()) &&
           log.lines() == 1;
  }));
  CHECK(cache.entries().size() == 1);
}

TEST_CASE("an entry that this user may not read is not removed") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store(sample_key(), sample_artifact()));
  const auto path = entry_path(folder.path(), sample_key());
  for (const auto& parent : {folder.path(), entries_folder(folder.path()), path.parent_path()}) {
    std::filesystem::permissions(parent, std::filesystem::perms(0755));
  }
  std::filesystem::permissions(path, std::filesystem::perms(0));
  CHECK(holds_in_child([&] {
    if (!become_nobody()) return false;
    const CapturedLog log;
    return !cache.fetch(sample_key()) && log.lines() == 1;
  }));
  std::filesystem::permissions(path, std::filesystem::perms(0644));
  CHECK(cache.fetch(sample_key()));
}

TEST_CASE("a folder or pipe with the name of an entry is neither read nor removed") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  const CapturedLog log;
  const auto path = entry_path(folder.path(), sample_key());
  std::filesystem::create_directories(path / "inside");
  CHECK_FALSE(cache.fetch(sample_key()));
  CHECK_FALSE(cache.store(sample_key(), sample_artifact()));
  CHECK(std::filesystem::exists(path / "inside"));
  CHECK(count_files(folder.path()) == 0);

  const auto pipe = entry_path(folder.path(), sample_key(1));
  std::filesystem::create_directories(pipe.parent_path());
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_FALSE(cache.fetch(sample_key(1)));  // does not block until a writer opens the pipe
  CHECK(cache.entries().empty());
}

TEST_CASE("a damaged entry in a read-only folder is a cache miss") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store(sample_key(), sample_artifact()));
  const auto path = entry_path(folder.path(), sample_key());
  std::filesystem::resize_file(path, 70);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  CHECK(holds_in_child([&] {
    if (!become_nobody()) return false;
    const CapturedLog log;
    return !cache.fetch(sample_key()) && log.lines() == 1;
  }));
}

TEST_CASE("entries() and clear() report the folders that they cannot read or clear") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store(sample_key(), sample_artifact()));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(entries_folder(folder.path()), std::filesystem::perms(0));
  const auto throws_io = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code() == ErrorCode::io;
    }
    return false;
  };
  CHECK(holds_in_child([&] {
    return become_nobody() && throws_io([&] { (void)cache.entries(); }) &&
           throws_io([&] { (void)cache.clear(); });
  }));
  std::filesystem::permissions(entries_folder(folder.path()), std::filesystem::perms(0755));
  CHECK(cache.clear() == 1);
}
