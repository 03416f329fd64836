// The cache's overhead: computing a key, storing an entry and fetching it must take less than 1 ms together.
#include "cache/samples.hpp"
#include "first_decile.hpp"
#include "measurable.hpp"

#include <tmajit/cache.hpp>

#include <cstdio>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::first_decile_us;
using tests::sample_artifact;
using tests::sample_key;

TEST_CASE("key, store and fetch cost less than a millisecond together") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  const auto artifact = sample_artifact(20000);  // three parts: an entry of 60 KB
  const Source source{.text = std::string(30000, 'x'), .entry = "k", .expression = {}};
  const CompilerIdentity compiler{.major = 13, .minor = 0, .build = std::string(40, 'b'), .path = {}};

  unsigned found = 0;
  const auto key =
      first_decile_us([&](unsigned) { found += cache_key(source, {}, compiler).digest[0] & 1U; });
  const auto store = first_decile_us([&](unsigned i) { found += cache.store(sample_key(i % 50), artifact); });
  const auto fetch =
      first_decile_us([&](unsigned i) { found += cache.fetch(sample_key(i % 50)).has_value(); });
  const auto miss = first_decile_us([&](unsigned) { found += cache.fetch(sample_key(99)).has_value(); });
  std::printf("key of 30 KB %.0f us, store of 60 KB %.0f us, fetch %.0f us, miss %.1f us\n", key, store,
              fetch, miss);
  REQUIRE(found > 0);
  if (TMAJIT_MEASURABLE) CHECK(key + store + fetch + miss < 1000);
}
