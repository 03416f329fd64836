// Packs as a level of the cache: a pack never fails a request.
#include "cache/pack_level.hpp"

#include "cache/pack_files.hpp"
#include "cache/pack_samples.hpp"
#include "captured_log.hpp"

#include <cstdlib>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::CapturedLog;
using tests::PackSamples;

TEST_CASE("the level of a pack finds its kernels for the pack's compilers, and never a whole artifact") {
  const PackSamples samples(4, 1, 500);
  (void)samples.write();
  const CapturedLog log;
  const auto level = PackLevel::open(samples.file);
  REQUIRE(level);
  CHECK(level->kind() == CacheLevel::pack);
  CHECK(level->name() == "the pack " + samples.file.string());
  REQUIRE(level->usable_compilers().size() == 1);
  CHECK(level->usable_compilers()[0].build == "build-a");
  CHECK(level->all_compilers().size() == 1);
  CHECK_FALSE(level->is_writable());
  for (std::size_t i = 0; i < samples.keys.size(); ++i) {
    CHECK(level->has(samples.keys[i]));
    const std::optional<Artifact> artifact = level->fetch(samples.keys[i], /*whole=*/false);
    REQUIRE(artifact);
    CHECK(tests::same(*artifact, samples.artifacts[i]));
    CHECK_FALSE(level->fetch(samples.keys[i], /*whole=*/true));
  }
  CHECK_FALSE(level->fetch(tests::sample_key(99), false));
  CHECK(log.lines() == 0);
}

TEST_CASE("a damaged kernel is logged once, and its pack is not used any more") {
  const PackSamples samples(4, 2, 500);
  (void)samples.write();
  std::string bytes = tests::read_file(samples.file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // in the entry of the largest key
  tests::write_file(samples.file, bytes);
  const auto level = PackLevel::open(samples.file);
  REQUIRE(level);
  const std::vector<CacheKey> keys = Pack(samples.file).keys();
  const CapturedLog log;
  CHECK(level->fetch(keys[0], false));
  for (int i = 0; i < 3; ++i) CHECK_FALSE(level->fetch(keys[3], false));
  CHECK_FALSE(level->fetch(keys[0], false));
  CHECK(log.lines() == 1);
  CHECK_THAT(log.text(), ContainsSubstring("is damaged") && ContainsSubstring(keys[3].hex()));
}

TEST_CASE("a pack that is missing, damaged or writable by others is logged and skipped") {
  const PackSamples samples(2, 3, 100);
  (void)samples.write();
  {
    const CapturedLog log;
    CHECK(PackLevel::open(samples.folder / "none.pack") == nullptr);
    CHECK_THAT(log.text(), ContainsSubstring("none.pack cannot be read"));
  }
  using std::filesystem::perms;
  {
    std::filesystem::permissions(samples.file, perms::group_write, std::filesystem::perm_options::add);
    const CapturedLog log;
    CHECK(PackLevel::open(samples.file) == nullptr);
    CHECK(log.lines() == 1);
    CHECK_THAT(log.text(), ContainsSubstring("others may write to it"));
    std::filesystem::permissions(samples.file, perms::group_write, std::filesystem::perm_options::remove);
  }
  {
    std::filesystem::permissions(samples.folder.path(), perms::others_write,
                                 std::filesystem::perm_options::add);
    const CapturedLog log;
    CHECK(PackLevel::open(samples.file) == nullptr);
    CHECK_THAT(log.text(), ContainsSubstring("others may write to it"));
    std::filesystem::permissions(samples.folder.path(), perms::others_write,
                                 std::filesystem::perm_options::remove);
  }
  CHECK(PackLevel::open(samples.file) != nullptr);
}

TEST_CASE("$TMAJIT_PACKS names files and folders, and an empty one names none") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "packs");
  for (const char* const name : {"packs/b.pack", "packs/a.pack", "packs/other.txt", "c.pack"})
    tests::write_file(folder / name, "");
  const std::string list = folder / "c.pack" + "::" + folder / "packs" + ":" + folder / "none.pack";
  ::setenv("TMAJIT_PACKS", list.c_str(), 1);
  CHECK(shipped_packs() == std::vector<std::filesystem::path>{folder / "c.pack", folder / "packs/a.pack",
                                                              folder / "packs/b.pack", folder / "none.pack"});
  ::setenv("TMAJIT_PACKS", "", 1);
  CHECK(shipped_packs().empty());
  ::unsetenv("TMAJIT_PACKS");
  CHECK(shipped_packs().empty());  // the build folder has none where an installation has its packs
}
