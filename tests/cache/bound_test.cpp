// The bound of a cache's size: the least recently used entries are evicted, whatever the clock says.
#include "cache/faulty_files.hpp"
#include "cache/layout.hpp"
#include "cache/samples.hpp"
#include "captured_log.hpp"
#include "error_of.hpp"
#include "files/file_lock.hpp"
#include "seed.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <cstdlib>
#include <deque>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using tests::FaultyFileSystem;
using tests::sample_artifact;
using tests::sample_key;

namespace {

constexpr std::uint64_t block = 4096;

/// An artifact whose entry takes three blocks.
Artifact three_blocks() {
  return sample_artifact(3500);
}

std::uint64_t size_of_entries(const DiskCache& cache) {
  std::uint64_t bytes = 0;
  for (const auto& entry : cache.entries()) bytes += (entry.bytes + block - 1) / block * block;
  return bytes;
}

}  // namespace

TEST_CASE("the least recently used entries are evicted, to 90 % of the bound") {
  const TemporaryFolder folder;
  FaultyFileSystem files(1);
  files.set_clock(-10h);
  const DiskCache cache(folder.path(), 20 * 3 * block);
  for (unsigned i = 0; i < 20; ++i) {
    files.set_clock(-10h + std::chrono::minutes(i));
    REQUIRE(cache.store(sample_key(i), three_blocks()));
  }
  CHECK(cache.entries().size() == 20);
  files.set_clock(-5h);
  CHECK(cache.fetch(sample_key(0)));  // sets its time
  CHECK(cache.fetch(sample_key(2)));
  REQUIRE(cache.store(sample_key(20), three_blocks()));
  CHECK(size_of_entries(cache) <= 18 * 3 * block);
  CHECK(cache.entries().size() == 18);
  CHECK(std::filesystem::file_size(size_path(folder.path())) * block == size_of_entries(cache));
  for (const unsigned evicted : {1U, 3U, 4U}) CHECK_FALSE(cache.fetch(sample_key(evicted)));
  for (const unsigned in_use : {0U, 2U, 5U, 20U}) CHECK(cache.fetch(sample_key(in_use)));
}

TEST_CASE("a fetch sets an entry's time at most once in ten minutes") {
  const TemporaryFolder folder;
  FaultyFileSystem files(1);
  const DiskCache cache(folder.path());
  REQUIRE(cache.store(sample_key(), sample_artifact()));
  const auto used = [&] { return cache.entries().at(0).used; };
  const auto stored = used();
  files.set_clock(9min);
  CHECK(cache.fetch(sample_key()));
  CHECK(used() == stored);
  files.set_clock(11min);
  CHECK(cache.fetch(sample_key()));
  CHECK(used() > stored + 10min);
  files.set_clock(-1h);  // the clock was wrong before, or is now
  CHECK(cache.fetch(sample_key()));
  CHECK(used() < stored);
}

TEST_CASE("entries of the last minute stay, even beyond the bound") {
  const TemporaryFolder folder;
  FaultyFileSystem files(1);
  const DiskCache cache(folder.path(), 4 * 3 * block);
  for (unsigned i = 0; i < 10; ++i) REQUIRE(cache.store(sample_key(i), three_blocks()));
  CHECK(cache.entries().size() == 10);
  files.set_clock(2min);
  REQUIRE(cache.store(sample_key(10), three_blocks()));
  CHECK(cache.entries().size() == 3);
  CHECK(cache.fetch(sample_key(10)));
}

TEST_CASE("no bound keeps everything, and the environment gives the default") {
  const TemporaryFolder folder;
  FaultyFileSystem files(1);
  const DiskCache cache(folder.path(), 0);
  for (unsigned i = 0; i < 30; ++i) {
    files.set_clock(i * 1h);
    REQUIRE(cache.store(sample_key(i), three_blocks()));
  }
  CHECK(cache.entries().size() == 30);
  CHECK_FALSE(std::filesystem::exists(size_path(folder.path())));

  ::unsetenv("TMAJIT_CACHE_BYTES");
  CHECK(default_max_cache_bytes() == std::uint64_t{4} << 30);
  for (const auto& [text, bytes] : {std::pair("0", std::uint64_t{0}),
                                    {"500000", 500000},
                                    {"64KiB", 65536},
                                    {"3M", std::uint64_t{3} << 20},
                                    {"2TiB", std::uint64_t{2} << 40}}) {
    ::setenv("TMAJIT_CACHE_BYTES", text, 1);
    CHECK(default_max_cache_bytes() == bytes);
  }
  for (const char* const text : {"-1", "1 GiB", "4gib", "lots", "1.5GiB", "99999999999TiB"}) {
    ::setenv("TMAJIT_CACHE_BYTES", text, 1);
    const Error error = tests::error_of([] { return default_max_cache_bytes(); });
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK_THAT(error.what(), ContainsSubstring(text) && ContainsSubstring("legal are"));
  }
  ::unsetenv("TMAJIT_CACHE_BYTES");
}

TEST_CASE("a cache that an older version filled is measured and bounded") {
  const TemporaryFolder folder;
  FaultyFileSystem files(1);
  files.set_clock(-1h);
  const DiskCache unbounded(folder.path(), 0);
  for (unsigned i = 0; i < 30; ++i) REQUIRE(unbounded.store(sample_key(i), three_blocks()));
  files.set_clock(0h);
  const DiskCache cache(folder.path(), 10 * 3 * block);
  REQUIRE(cache.store(sample_key(30), three_blocks()));
  CHECK(cache.entries().size() == 9);
}

TEST_CASE("while one process evicts, another stores without waiting") {
  const TemporaryFolder folder;
  FaultyFileSystem files(1);
  files.set_clock(-1h);
  const DiskCache cache(folder.path(), 4 * 3 * block);
  for (unsigned i = 0; i < 4; ++i) REQUIRE(cache.store(sample_key(i), three_blocks()));
  files.set_clock(-30min);
  {
    const FileLock other_sweeper(size_lock_path(folder.path()), 0ms);
    REQUIRE(other_sweeper.is_held());
    for (unsigned i = 4; i < 8; ++i) REQUIRE(cache.store(sample_key(i), three_blocks()));
    CHECK(cache.entries().size() == 8);
  }
  files.set_clock(0h);
  REQUIRE(cache.store(sample_key(8), three_blocks()));
  CHECK(cache.entries().size() == 3);
}

TEST_CASE("a clock that jumps neither empties the cache nor stops eviction") {
  const auto seed = tests::seed(3);
  constexpr std::size_t bound = 12;
  for (std::uint64_t sequence = 0; sequence < 10; ++sequence) {
    INFO("TMAJIT_SEED=" << seed << ", sequence " << sequence);
    const TemporaryFolder folder;
    std::mt19937_64 random(seed * 1000 + sequence);
    FaultyFileSystem files(random());
    const DiskCache cache(folder.path(), bound * 3 * block);
    std::chrono::seconds clock{0};
    for (unsigned i = 0; i < 60; ++i) {
      const bool jumps = random() % 8 == 0;
      clock += jumps ? std::chrono::hours(static_cast<int>(random() % 20'000) - 10'000) : 2min;
      files.set_clock(clock);
      REQUIRE(cache.store(sample_key(i), three_blocks()));
      // The entry that was just stored is found, and a sweep leaves 90 % of what is allowed.
      CHECK(cache.fetch(sample_key(i)));
      const std::size_t entries = cache.entries().size();
      CHECK(entries <= bound);
      CHECK(entries >= std::min<std::size_t>(i + 1, bound - 2));
    }
  }
}

TEST_CASE("entries whose time is in the future are evicted first, unless they are used") {
  const TemporaryFolder folder;
  FaultyFileSystem files(1);
  const DiskCache cache(folder.path(), 10 * 3 * block);
  files.set_clock(24h * 365);  // a clock that is wrong
  for (unsigned i = 0; i < 6; ++i) REQUIRE(cache.store(sample_key(i), three_blocks()));
  files.set_clock(0h);
  CHECK(cache.fetch(sample_key(0)));
  CHECK(cache.fetch(sample_key(1)));
  files.set_clock(1h);
  for (unsigned i = 6; i < 10; ++i) REQUIRE(cache.store(sample_key(i), three_blocks()));
  files.set_clock(2h);
  REQUIRE(cache.store(sample_key(10), three_blocks()));
  CHECK(cache.entries().size() == 9);
  for (const unsigned used : {0U, 1U, 6U, 7U, 8U, 9U, 10U}) CHECK(cache.fetch(sample_key(used)));
}

TEST_CASE("trim removes by age and by size") {
  const TemporaryFolder folder;
  FaultyFileSystem files(1);
  const DiskCache cache(folder.path());
  for (unsigned i = 0; i < 10; ++i) {
    files.set_clock(-std::chrono::hours(24 * (10 - i)));
    REQUIRE(cache.store(sample_key(i), three_blocks()));
  }
  files.set_clock(0h);
  const std::uint64_t everything = std::uint64_t{1} << 40;
  auto trimmed = cache.trim(everything);
  CHECK(trimmed.removed == 0);
  CHECK(trimmed.remaining == 10);
  trimmed = cache.trim(everything, 24h * 7 + 1h);
  CHECK(trimmed.removed == 3);
  CHECK(trimmed.removed_bytes == 3 * cache.entries().at(0).bytes);
  CHECK_FALSE(cache.fetch(sample_key(2)));
  trimmed = cache.trim(4 * 3 * block);
  CHECK(trimmed.removed == 3);
  CHECK(trimmed.remaining == 4);
  CHECK(cache.fetch(sample_key(9)));
  CHECK_FALSE(cache.fetch(sample_key(5)));
  CHECK(cache.trim(0).removed == 4);
  CHECK(DiskCache(folder.path() / "missing").trim(0).removed == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "missing"));
}
