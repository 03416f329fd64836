// The order of system calls on which power cuts and network file systems depend.
#include "cache/disk_level.hpp"
#include "cache/layout.hpp"
#include "cache/samples.hpp"
#include "files/file_system.hpp"

#include <tmajit/cache.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::sample_artifact;
using tests::sample_key;

namespace {

/// Records the names of some calls while it lives.
class RecordedFiles final : public FileSystem {
 public:
  RecordedFiles() : before_(replace_file_system(*this)) {}
  ~RecordedFiles() override { replace_file_system(before_); }
  RecordedFiles(const RecordedFiles&) = delete;
  RecordedFiles& operator=(const RecordedFiles&) = delete;

  int sync(int file) override { return record("sync"), FileSystem::sync(file); }
  int rename(const std::string& from, const std::string& to) override {
    return record("rename to " + to), FileSystem::rename(from, to);
  }
  int refresh(const std::string& folder) override {
    return record("refresh " + folder), FileSystem::refresh(folder);
  }
  int lock(int file) override { return record("lock"), FileSystem::lock(file); }
  int stat(const std::string& path, struct stat& info) override {
    return record("stat " + path), FileSystem::stat(path, info);
  }
  int list(const std::string& folder, std::vector<std::string>& names) override {
    return record("list " + folder), FileSystem::list(folder, names);
  }

  /// The position of a call; the number of calls if it was not made.
  [[nodiscard]] std::size_t position(const std::string& call) const {
    return static_cast<std::size_t>(std::ranges::find(calls_, call) - calls_.begin());
  }
  [[nodiscard]] bool made(const std::string& call) const { return position(call) < calls_.size(); }
  void forget() { calls_.clear(); }

 private:
  void record(std::string call) { calls_.push_back(std::move(call)); }

  std::vector<std::string> calls_;
  FileSystem& before_;
};

}  // namespace

TEST_CASE("an entry is on the disk before it is published") {
  const TemporaryFolder folder;
  RecordedFiles files;
  REQUIRE(DiskCache(folder.path()).store(sample_key(), sample_artifact()));
  const std::string published = "rename to " + entry_path(folder.path(), sample_key()).string();
  REQUIRE(files.made(published));
  CHECK(files.position("sync") < files.position(published));
}

TEST_CASE("a process that has waited for a lease asks the server for the kernel's folder") {
  const TemporaryFolder folder;
  const DiskLevel level(folder.path(), 0);
  RecordedFiles files;
  const auto lease = level.lease(sample_key(), std::chrono::milliseconds(0));
  REQUIRE(lease != nullptr);
  const std::string asked = "refresh " + entry_path(folder.path(), sample_key()).parent_path().string();
  REQUIRE(files.made(asked));
  CHECK(files.position("lock") < files.position(asked));
}

TEST_CASE("compilers are read again only when their folder has changed") {
  const TemporaryFolder folder;
  const auto compilers = compilers_folder(folder.path());
  const DiskCache cache(folder.path());
  cache.remember({.major = 13, .minor = 0, .build = "one", .path = {}});
  const auto age = [&](int hours) {
    std::filesystem::last_write_time(
        compilers, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  RecordedFiles files;
  age(2);
  CHECK(cache.known_compilers().size() == 1);
  CHECK(files.made("list " + compilers.string()));
  files.forget();
  CHECK(cache.known_compilers().size() == 1);
  CHECK_FALSE(files.made("list " + compilers.string()));

  DiskCache(folder.path()).remember({.major = 13, .minor = 0, .build = "two", .path = {}});
  CHECK(cache.known_compilers().size() == 2);
  // A folder that has just changed may change again without another time.
  files.forget();
  CHECK(cache.known_compilers().size() == 2);
  CHECK(files.made("list " + compilers.string()));
  age(1);
  CHECK(cache.known_compilers().size() == 2);
  std::filesystem::remove_all(compilers);
  CHECK(cache.known_compilers().empty());
}
