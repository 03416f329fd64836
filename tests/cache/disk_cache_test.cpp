#include "cache/entry_format.hpp"
#include "cache/layout.hpp"
#include "cache/samples.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>

using namespace std::string_literals;
using namespace tmajit;
using tests::count_files;
using tests::same;
using tests::sample_artifact;
using tests::sample_key;

namespace {

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Sets a file's time to `age` before now.
void set_age(const std::filesystem::path& path, std::chrono::minutes age) {
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
}

/// Sets or unsets an environment variable. The destructor restores it.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Environment() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace

TEST_CASE("a stored entry is fetched by the cache object that stored it and by another one") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path() / "new" / "cache");
  CHECK_FALSE(cache.fetch(sample_key()));
  REQUIRE(cache.store(sample_key(), sample_artifact(30000)));
  for (const auto& reader : {cache, DiskCache(cache.directory())}) {
    const auto fetched = reader.fetch(sample_key());
    REQUIRE(fetched);
    CHECK(same(*fetched, sample_artifact(30000)));
  }
  CHECK_FALSE(cache.fetch(sample_key(1)));
  CHECK(count_files(cache.directory()) == 2);  // the entry and the size; no pending file is left
}

TEST_CASE("storing under the same key again replaces the entry") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store(sample_key(), sample_artifact(10, 'a')));
  REQUIRE(cache.store(sample_key(), sample_artifact(10, 'q')));
  CHECK(same(*cache.fetch(sample_key()), sample_artifact(10, 'q')));
  CHECK(cache.entries().size() == 1);
}

TEST_CASE("a new cache folder is private whatever the umask, an existing one keeps its mode") {
  const TemporaryFolder folder;
  const auto mode = [](const std::filesystem::path& path) {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  };
  const auto existing = folder.path() / "existing";
  std::filesystem::create_directory(existing);
  std::filesystem::permissions(existing, std::filesystem::perms(0755));
  const auto mask = ::umask(0);
  for (const auto& directory : {folder.path() / "new", existing}) {
    const DiskCache cache(directory);
    REQUIRE(cache.store(sample_key(), sample_artifact()));
    CHECK(mode(directory) == (directory == existing ? 0755 : 0700));
    CHECK(mode(entries_folder(directory)) == 0700);
    CHECK(mode(pending_folder(directory)) == 0700);
    CHECK(mode(entry_path(directory, sample_key()).parent_path()) == 0700);
    CHECK(mode(entry_path(directory, sample_key())) == 0644);
    CHECK(cache.fetch(sample_key()));
  }
  ::umask(mask);
}

TEST_CASE("a damaged entry is removed and can be stored again") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  const auto path = entry_path(folder.path(), sample_key());
  REQUIRE(cache.store(sample_key(), sample_artifact()));
  const auto whole = read_whole(path);
  REQUIRE(whole == encode_entry(sample_key(), sample_artifact()));
  auto flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  const std::string faults[] = {"",          "text",  whole.substr(0, whole.size() - 1),
                                whole + "x", flipped, encode_entry(sample_key(5), sample_artifact())};
  for (const auto& fault : faults) {
    write_file(path, fault);
    CHECK_FALSE(cache.fetch(sample_key()));
    CHECK_FALSE(std::filesystem::exists(path));
    REQUIRE(cache.store(sample_key(), sample_artifact()));
    CHECK(cache.fetch(sample_key()));
  }
}

TEST_CASE("entries() lists whole entries and no other files") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path() / "cache");
  CHECK(cache.entries().empty());
  for (unsigned i = 0; i < 20; ++i)
    REQUIRE(cache.store(sample_key(i), sample_artifact(std::size_t{100} * i)));
  write_file(pending_folder(cache.directory()) / "1-2-3", encode_entry(sample_key(50), sample_artifact()));
  write_file(entries_folder(cache.directory()) / "notes.txt", "mine");
  write_file(entry_path(cache.directory(), sample_key(51)), "damaged");
  // A whole entry in a file named after another key.
  write_file(entry_path(cache.directory(), sample_key(52)), encode_entry(sample_key(53), sample_artifact()));

  const auto entries = cache.entries();
  CHECK(entries.size() == 20);
  const auto now = std::chrono::system_clock::now();
  for (const auto& entry : entries) {
    CHECK(entry.entry == "tmajit_sample");
    CHECK(entry.bytes == std::filesystem::file_size(entry_path(cache.directory(), entry.key)));
    CHECK(entry.used > now - std::chrono::hours(1));
    CHECK(entry.key_fields == sample_artifact().key_fields);
    CHECK(cache.fetch(entry.key));
  }
}

TEST_CASE("clear() removes entries and the pending files of ended processes, and nothing else") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  CHECK(cache.clear() == 0);
  for (unsigned i = 0; i < 9; ++i) REQUIRE(cache.store(sample_key(i), sample_artifact()));
  cache.remember({.major = 13, .minor = 0, .build = "b", .path = {}});
  const auto stale = pending_folder(folder.path()) / "1-2-3";
  const auto active = pending_folder(folder.path()) / "4-5-6";
  for (const auto& path : {stale, active, folder.path() / "mine", entries_folder(folder.path()) / "mine"}) {
    write_file(path, "x");
  }
  set_age(stale, std::chrono::minutes(60));
  CHECK(cache.clear() == 9);
  CHECK(cache.entries().empty());
  CHECK(cache.known_compilers().empty());
  CHECK_FALSE(std::filesystem::exists(stale));
  CHECK(count_files(folder.path()) == 3);
  CHECK(cache.store(sample_key(), sample_artifact()));
}

TEST_CASE("known compilers are listed once each, the newest first") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  CHECK(cache.known_compilers().empty());
  const CompilerIdentity first{
      .major = 12, .minor = 4, .build = "one", .path = "/somewhere", .stamp = "5-6.7"};
  const CompilerIdentity second{.major = 13, .minor = 0, .build = "two\n\0three"s, .path = {}};
  cache.remember(first);
  for (const auto& file : std::filesystem::directory_iterator(compilers_folder(folder.path()))) {
    set_age(file, std::chrono::minutes(60));
  }
  cache.remember(second);
  cache.remember(second);
  auto known = cache.known_compilers();
  REQUIRE(known.size() == 2);
  CHECK(known[0].build == second.build);
  CHECK(known[0].major == 13);
  CHECK(known[1].minor == 4);
  CHECK(known[1].path == first.path);
  CHECK(known[1].stamp == first.stamp);
  cache.remember(first);  // an old file becomes the newest again
  CHECK(cache.known_compilers()[0].build == "one");

  write_file(compilers_folder(folder.path()) / "0123456789abcdef", "damaged");
  write_file(compilers_folder(folder.path()) / "0123456789abcdee", "");
  CHECK(cache.known_compilers().size() == 2);
}

TEST_CASE("the environment determines the default cache folder") {
  const Environment chosen("TMAJIT_CACHE_DIR", "/chosen");
  const Environment xdg("XDG_CACHE_HOME", "/xdg");
  const Environment home("HOME", "/home/me");
  CHECK(DiskCache::default_directory() == "/chosen");
  ::setenv("TMAJIT_CACHE_DIR", "relative", 1);
  CHECK(DiskCache::default_directory() == std::filesystem::current_path() / "relative");
  ::setenv("TMAJIT_CACHE_DIR", "", 1);
  CHECK(DiskCache::default_directory() == "/xdg/tmajit");
  ::setenv("XDG_CACHE_HOME", "not/absolute", 1);
  CHECK(DiskCache::default_directory() == "/home/me/.cache/tmajit");
  ::unsetenv("HOME");
  CHECK(DiskCache::default_directory().is_absolute());
}
