// The cache's overhead: computing a key, storing an entry and fetching it must take less than 1 ms together,
// apart from the time that a disk takes to keep the entry.
#include "cache/layout.hpp"
#include "cache/samples.hpp"
#include "files/file_system.hpp"
#include "first_decile.hpp"
#include "measurable.hpp"

#include <tmajit/cache.hpp>

#include <cstdio>
#include <memory>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::first_decile_us;
using tests::sample_artifact;
using tests::sample_key;

namespace {

/// Does not wait for the disk while it lives.
class NoSync final : public FileSystem {
 public:
  NoSync() : before_(replace_file_system(*this)) {}
  ~NoSync() override { replace_file_system(before_); }
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;
  int sync(int) override { return 0; }

 private:
  FileSystem& before_;
};

}  // namespace

TEST_CASE("key, store and fetch cost less than a millisecond together") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  const auto artifact = sample_artifact(20000);  // three parts: an entry of 60 KB
  const Source source{.text = std::string(30000, 'x'), .entry = "k", .expression = {}};
  const CompilerIdentity compiler{.major = 13, .minor = 0, .build = std::string(40, 'b'), .path = {}};

  unsigned found = 0;
  const auto key =
      first_decile_us([&](unsigned) { found += cache_key(source, {}, compiler).digest[0] & 1U; });
  auto fast = std::make_unique<NoSync>();
  const auto store = first_decile_us([&](unsigned i) { found += cache.store(sample_key(i % 50), artifact); });
  const auto fetch =
      first_decile_us([&](unsigned i) { found += cache.fetch(sample_key(i % 50)).has_value(); });
  const auto miss = first_decile_us([&](unsigned) { found += cache.fetch(sample_key(99)).has_value(); });
  // Each kernel that is looked up needs the compilers. The first measurement reads their files.
  cache.remember(compiler);
  const auto compilers_read =
      first_decile_us([&](unsigned) { found += cache.known_compilers().empty() ? 0 : 1; });
  std::filesystem::last_write_time(compilers_folder(folder.path()),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const auto compilers = first_decile_us([&](unsigned) { found += cache.known_compilers().empty() ? 0 : 1; });
  fast.reset();
  const auto synced =
      first_decile_us([&](unsigned i) { found += cache.store(sample_key(i % 50), artifact); });
  std::printf(
      "key of 30 KB %.0f us, store of 60 KB %.0f us (%.0f us with the disk), fetch %.0f us, miss %.1f us, "
      "known compilers %.1f us (%.1f us if their folder has just changed)\n",
      key, store, synced, fetch, miss, compilers, compilers_read);
  REQUIRE(found > 0);
  if (TMAJIT_MEASURABLE) CHECK(key + store + fetch + miss + compilers < 1000);
}
