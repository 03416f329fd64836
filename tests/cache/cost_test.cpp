// The cache's overhead: computing a key, storing an entry and fetching it must take less than 1 ms together,
// apart from the time that a disk takes to keep the entry.
#include "cache/layout.hpp"
#include "cache/samples.hpp"
#include "files/file_system.hpp"
#include "measurable.hpp"

#include <tmajit/cache.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::sample_artifact;
using tests::sample_key;

namespace {

/// Microseconds of one call: the first decile of 301 calls, which other load on the machine hardly affects.
template <class Call>
double microseconds(Call call) {
  std::vector<double> times;
  for (unsigned i = 0; i < 301; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call(i);
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 30, times.end());
  return times[30];
}

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
  const auto key = microseconds([&](unsigned) { found += cache_key(source, {}, compiler).digest[0] & 1U; });
  auto fast = std::make_unique<NoSync>();
  const auto store = microseconds([&](unsigned i) { found += cache.store(sample_key(i % 50), artifact); });
  const auto fetch = microseconds([&](unsigned i) { found += cache.fetch(sample_key(i % 50)).has_value(); });
  const auto miss = microseconds([&](unsigned) { found += cache.fetch(sample_key(99)).has_value(); });
  // Each kernel that is looked up needs the compilers. The first measurement reads their files.
  cache.remember(compiler);
  const auto compilers_read =
      microseconds([&](unsigned) { found += cache.known_compilers().empty() ? 0 : 1; });
  std::filesystem::last_write_time(compilers_folder(folder.path()),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const auto compilers = microseconds([&](unsigned) { found += cache.known_compilers().empty() ? 0 : 1; });
  fast.reset();
  const auto synced = microseconds([&](unsigned i) { found += cache.store(sample_key(i % 50), artifact); });
  std::printf(
      "key of 30 KB %.0f us, store of 60 KB %.0f us (%.0f us with the disk), fetch %.0f us, miss %.1f us, "
      "known compilers %.1f us (%.1f us if their folder has just changed)\n",
      key, store, synced, fetch, miss, compilers, compilers_read);
  REQUIRE(found > 0);
  if (TMAJIT_MEASURABLE) CHECK(key + store + fetch + miss + compilers < 1000);
}
