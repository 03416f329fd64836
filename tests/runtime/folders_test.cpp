// Folders of kernels that are only read, and folders that versions of the library share.
#include "captured_log.hpp"
#include "runtime/builder.hpp"
#include "temporary_folder.hpp"

#include <filesystem>
#include <map>
#include <string>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace folders_test {
namespace {

// A toolchain is two plain functions. These are what they use, and each test sets them.
CompilerIdentity compiler_in_use;
int compiles = 0;

const CompilerIdentity& identity() {
  return compiler_in_use;
}
Artifact compile(const Source& source, const CompileOptions&) {
  ++compiles;
  return {.entry = source.entry,
          .source = source.text,
          .ptx = "ptx of " + source.text,
          .cubin = std::vector(100, std::byte{7}),
          .log = {},
          .resources = {}};
}

Builder builder_with(const std::filesystem::path& writable,
                     const std::vector<std::filesystem::path>& read_only = {}) {
  RuntimeOptions options;
  options.cache_directory = writable;
  options.read_only_caches = read_only;
  return Builder(options, {.identity = &identity, .compile = &compile});
}

/// The content and time of every file below a folder.
std::map<std::string, std::pair<std::string, std::filesystem::file_time_type>> state_of_folder(
    const std::filesystem::path& folder) {
  std::map<std::string, std::pair<std::string, std::filesystem::file_time_type>> state;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    state[file.path().string()] = {file.is_regular_file() ? tests::read_file(file) : "",
                                   file.last_write_time()};
  }
  return state;
}

struct FoldersFixture {
  FoldersFixture() {
    compiler_in_use = {13, 0, "build-a", "/somewhere"};
    compiles = 0;
  }
  TemporaryFolder folder;
  Source source{"text", "entry", ""};
  KernelRequest kernel{.custom = &source};
};

}  // namespace

TEST_CASE("a kernel of a read-only folder is found, and nothing in the folder changes") {
  const FoldersFixture fixture;
  const auto image = fixture.folder.path() / "image";
  const auto own = fixture.folder.path() / "own";
  const BuiltKernel made = builder_with(image).build(fixture.kernel);
  // The kernel was last used long ago, so that a writable cache would set its time.
  for (const auto& file : std::filesystem::recursive_directory_iterator(image))
    std::filesystem::last_write_time(file, file.last_write_time() - std::chrono::hours(1000));
  const auto before = state_of_folder(image);

  const auto missing = fixture.folder.path() / "missing";
  const Builder builder = builder_with(own, {missing, image});
  const BuiltKernel found = builder.build(fixture.kernel);
  CHECK(found.level == CacheLevel::disk);
  CHECK(found.key == made.key);
  CHECK(found.artifact.ptx == "ptx of text");
  CHECK(found.artifact.key_fields == made.artifact.key_fields);
  CHECK(found.is_kept);
  CHECK(builder.artifact(found.key, fixture.kernel).ptx == "ptx of text");
  CHECK(compiles == 1);

  // A kernel that no folder has is compiled and kept in the writable one alone.
  const Source other{"other", "entry", ""};
  CHECK(builder.build({.custom = &other}).level == CacheLevel::compiled);
  CHECK(DiskCache(own).entries().size() == 1);
  CHECK(state_of_folder(image) == before);
  CHECK_FALSE(std::filesystem::exists(missing));
}

TEST_CASE("a damaged kernel of a read-only folder is compiled again and stays there, with one warning") {
  const FoldersFixture fixture;
  const auto image = fixture.folder.path() / "image";
  (void)builder_with(image).build(fixture.kernel);
  for (const auto& file : std::filesystem::recursive_directory_iterator(image / "entries"))
    if (file.is_regular_file()) std::filesystem::resize_file(file, 300);
  const auto before = state_of_folder(image);
  const tests::CapturedLog log;
  const Builder builder = builder_with(fixture.folder.path() / "own", {image});
  CHECK(builder.build(fixture.kernel).level == CacheLevel::compiled);
  CHECK(log.lines() == 1);
  CHECK(state_of_folder(image) == before);
  CHECK(builder.build(fixture.kernel).level == CacheLevel::disk);
}

TEST_CASE("versions of the library that share a folder neither use nor remove each other's kernels") {
  const FoldersFixture fixture;
  const auto folder = fixture.folder.path() / "cache";
  (void)builder_with(folder).build(fixture.kernel);
  // Another version's kernels have other keys, because their generator or schema is a field of the key. An
  // entry of another format at a path of this version's key is another version's, too.
  std::filesystem::path entry;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder / "entries"))
    if (file.is_regular_file()) entry = file;
  std::string bytes = tests::read_file(entry);
  constexpr std::size_t format_at = 8;
  bytes[format_at] = static_cast<char>(bytes[format_at] + 1);
  tests::write_file(entry, bytes);
  const tests::CapturedLog log;
  CHECK_FALSE(DiskCache(folder).fetch(builder_with(folder).key_for(fixture.kernel)(compiler_in_use)));
  CHECK(tests::read_file(entry) == bytes);
  const auto verified = DiskCache(folder).verify(/*remove=*/true);
  CHECK(verified.other_versions == 1);
  CHECK(verified.broken.empty());
  CHECK(log.lines() == 0);
  CHECK(DiskCache(folder).entries().empty());
  CHECK(builder_with(folder).build(fixture.kernel).level == CacheLevel::compiled);
  CHECK(builder_with(folder).build(fixture.kernel).level == CacheLevel::disk);
  CHECK(DiskCache(folder).clear() == 1);
}

}  // namespace folders_test
