// Another user with write access to a cache could choose the code that this user runs. Such a cache is not
// used: it gives one warning, and the program continues without it.
#include "cache/layout.hpp"
#include "cache/samples.hpp"
#include "captured_log.hpp"
#include "files/files.hpp"

#include <tmajit/cache.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <unistd.h>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::CapturedLog;
using tests::count_files;
using tests::sample_artifact;
using tests::sample_key;

namespace {

constexpr ::uid_t other_user = 12345;
constexpr ::gid_t same_group = static_cast<::gid_t>(-1);

/// Gives the file to another user, which only root may do.
void give_away(const std::filesystem::path& path) {
  if (::geteuid() != 0) SKIP("files of another user: only root can make them");
  REQUIRE(::lchown(path.c_str(), other_user, same_group) == 0);
}

/// The warning of `cache`, checking that it refuses every call and warns once.
std::string refusal(const DiskCache& cache) {
  const auto files = count_files(cache.directory());
  const CapturedLog log;
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(cache.fetch(sample_key()));
    CHECK_FALSE(cache.store(sample_key(1), sample_artifact()));
  }
  cache.remember({.major = 13, .minor = 0, .build = "new", .path = {}});
  CHECK(cache.known_compilers().empty());
  CHECK(count_files(cache.directory()) == files);
  CHECK(log.lines() == 1);
  CHECK_THAT(log.text(), ContainsSubstring(cache.directory().string()) &&
                             ContainsSubstring(cache.why_refused()) &&
                             ContainsSubstring("or name another folder"));
  return cache.why_refused();
}

/// A cache with an entry and a compiler.
DiskCache filled(const std::filesystem::path& directory) {
  const DiskCache cache(directory);
  REQUIRE(cache.store(sample_key(), sample_artifact()));
  cache.remember({.major = 13, .minor = 0, .build = "b", .path = {}});
  REQUIRE(cache.known_compilers().size() == 1);
  CHECK(cache.why_refused().empty());
  return DiskCache(directory);
}

}  // namespace

TEST_CASE("a cache that other users may write to is refused with one warning") {
  const TemporaryFolder folder;
  for (const unsigned mode : {0777U, 0775U, 0722U, 0702U}) {
    const auto directory = folder.path() / std::to_string(mode);
    const DiskCache cache = filled(directory);
    std::filesystem::permissions(directory, std::filesystem::perms(mode));
    CHECK_THAT(refusal(cache),
               ContainsSubstring("others may write to it") && ContainsSubstring("chmod go-w"));
    std::filesystem::permissions(directory, std::filesystem::perms(0755));
    CHECK(cache.fetch(sample_key()));
  }
}

TEST_CASE("a cache that belongs to another user is refused, also for root and through a symbolic link") {
  const TemporaryFolder folder;
  const auto directory = folder.path() / "cache";
  const DiskCache cache = filled(directory);
  const DiskCache linked(folder.path() / "link");
  std::filesystem::create_directory_symlink(directory, linked.directory());
  CHECK(linked.fetch(sample_key()));
  give_away(directory);
  CHECK_THAT(refusal(cache), ContainsSubstring("belongs to the user 12345") && ContainsSubstring("chown"));
  CHECK_THAT(refusal(linked), ContainsSubstring("belongs to the user 12345"));
}

TEST_CASE("a cache in a world-writable folder with the sticky bit is used") {
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(01777));
  const DiskCache cache = filled(folder.path());
  CHECK(cache.fetch(sample_key()));
}

TEST_CASE("an entry that other users could have written is not used and can be replaced") {
  const TemporaryFolder folder;
  const auto path = entry_path(folder.path(), sample_key());
  const auto not_used = [&] {
    const DiskCache cache(folder.path());
    const CapturedLog log;
    CHECK_FALSE(cache.fetch(sample_key()));
    CHECK_THAT(log.text(), ContainsSubstring(path.string()) && ContainsSubstring("others may write to it"));
    CHECK(std::filesystem::exists(path));
    CHECK(cache.store(sample_key(), sample_artifact()));
    CHECK(cache.fetch(sample_key()));
  };
  (void)filled(folder.path());
  std::filesystem::permissions(path, std::filesystem::perms(0666));
  not_used();
  give_away(path);
  not_used();
}

TEST_CASE("a link in place of the cache's size changes no other file") {
  const TemporaryFolder folder;
  const auto precious = folder.path() / "precious";
  tests::write_file(precious, "text of the user");
  const auto directory = folder.path() / "cache";
  std::filesystem::create_directory(directory);
  std::filesystem::permissions(directory, std::filesystem::perms(01777));
  for (const bool symbolic : {true, false}) {
    symbolic ? std::filesystem::create_symlink(precious, size_path(directory))
             : std::filesystem::create_hard_link(precious, size_path(directory));
    const DiskCache cache(directory, 4096);
    CHECK(cache.store(sample_key(), sample_artifact()));
    CHECK(cache.store(sample_key(1), sample_artifact()));
    (void)cache.trim(0);
    CHECK(tests::read_file(precious) == "text of the user");
    std::filesystem::remove(size_path(directory));
  }
}

TEST_CASE("bytes are appended through a link only where any file is allowed") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  const auto symbolic = folder.path() / "symbolic";
  const auto hard = folder.path() / "hard";
  std::uint64_t size = 7;
  CHECK_FALSE(append_file(file, "a", AppendTo::own_file, &size));
  CHECK(size == 1);
  std::filesystem::create_symlink(file, symbolic);
  CHECK(append_file(symbolic, "b", AppendTo::own_file, &size).value() == ELOOP);
  CHECK(size == 0);
  CHECK_FALSE(append_file(symbolic, "c", AppendTo::any_file, &size));
  CHECK(size == 2);
  std::filesystem::create_hard_link(file, hard);
  CHECK(append_file(hard, "d", AppendTo::own_file, &size).value() == EPERM);
  CHECK(size == 0);
  CHECK_FALSE(append_file(hard, "e", AppendTo::any_file, &size));
  CHECK(size == 3);
  CHECK(tests::read_file(file) == "ace");
}

TEST_CASE("compilers recorded by other users are ignored") {
  const TemporaryFolder folder;
  const DiskCache cache = filled(folder.path());
  for (const auto& file : std::filesystem::directory_iterator(compilers_folder(folder.path()))) {
    std::filesystem::permissions(file.path(), std::filesystem::perms(0666));
  }
  CHECK(cache.known_compilers().empty());
}
