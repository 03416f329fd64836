#include "fleet/fleet_level.hpp"

#include "cache/entry_format.hpp"
#include "cache/samples.hpp"
#include "captured_log.hpp"
#include "fleet/memory_store.hpp"
#include "seed.hpp"

#include <random>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using tests::sample_artifact;
using tests::sample_key;

namespace fleet_level_test {
namespace {

const CompilerIdentity nvrtc{13, 0, "build", "/somewhere", "stamp"};

struct LevelFixture {
  explicit LevelFixture(FleetOptions options = {}, FleetLevel::Pauses pauses = {})
      : level(store, options, pauses) {}
  std::shared_ptr<tests::MemoryStore> store = std::make_shared<tests::MemoryStore>();
  FleetLevel level;
};

}  // namespace

TEST_CASE("a fleet's level finds what it has kept, and the compiler that made it") {
  const LevelFixture fixture;
  CHECK_FALSE(fixture.level.fetch(sample_key(), false));
  CHECK_FALSE(fixture.level.has(sample_key()));
  CHECK(fixture.level.keep(sample_key(), sample_artifact(), nvrtc));
  CHECK(fixture.level.has(sample_key()));
  const auto found = fixture.level.fetch(sample_key(), true);
  REQUIRE(found);
  CHECK(tests::same(*found, sample_artifact()));
  REQUIRE(fixture.level.all_compilers().size() == 1);
  CHECK(fixture.level.all_compilers()[0].build == "build");
  CHECK(fixture.level.usable_compilers().empty());  // its file is not on this machine
}

TEST_CASE("the list of compilers is not read for each kernel") {
  const LevelFixture fixture;
  (void)fixture.level.all_compilers();
  const int before = fixture.store->requests;
  for (int i = 0; i < 10; ++i) (void)fixture.level.usable_compilers();
  CHECK(fixture.store->requests == before);
}

TEST_CASE("entries that were changed, or are another key's, are not found, and the log says so once") {
  const auto seed = tests::seed(1);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const char* secret : {"", "secret"}) {
    const LevelFixture fixture({.secret = secret});
    const tests::CapturedLog log;
    REQUIRE(fixture.level.keep(sample_key(1), sample_artifact(), nvrtc));
    const std::string whole = fixture.store->values[sample_key(1).hex()];
    for (int i = 0; i < 300; ++i) {
      std::string& stored = fixture.store->values[sample_key(1).hex()];
      stored = whole;
      if (random() % 2 == 0)
        stored.resize(random() % whole.size());
      else
        stored[random() % stored.size()] ^= static_cast<char>(1 << random() % 8);
      CHECK_FALSE(fixture.level.fetch(sample_key(1), false));
    }
    fixture.store->values[sample_key(2).hex()] = whole;
    CHECK_FALSE(fixture.level.fetch(sample_key(2), false));
    CHECK(log.lines() == 1);
    CHECK_THAT(log.text(), ContainsSubstring("is not used"));
  }
}

TEST_CASE("without the fleet's secret a process can neither read nor plant a kernel") {
  const auto store = std::make_shared<tests::MemoryStore>();
  const FleetLevel signing(store, {.secret = "secret"});
  const FleetLevel stranger(store, {.secret = "guess"});
  const FleetLevel unsigned_level(store, FleetOptions{});
  REQUIRE(signing.keep(sample_key(1), sample_artifact(), nvrtc));
  CHECK(signing.fetch(sample_key(1), false));
  CHECK_FALSE(stranger.fetch(sample_key(1), false));
  CHECK_FALSE(unsigned_level.fetch(sample_key(1), false));
  for (const FleetLevel* other : {&stranger, &unsigned_level}) {
    REQUIRE(other->keep(sample_key(2), sample_artifact(), nvrtc));
    CHECK_FALSE(signing.fetch(sample_key(2), false));
  }
  CHECK(signing.all_compilers().size() == 1);
}

TEST_CASE("an entry above the limit is not kept") {
  const LevelFixture fixture({.max_entry_bytes = 1000});
  CHECK_FALSE(fixture.level.keep(sample_key(1), sample_artifact(5000), nvrtc));
  CHECK(fixture.store->values.empty());
  CHECK(fixture.level.keep(sample_key(1), sample_artifact(40), nvrtc));
}

TEST_CASE("a store that fails is left alone for a pause, and the log has one line an outage") {
  const LevelFixture fixture({}, {.first = 100ms, .longest = 100ms});
  const tests::CapturedLog log;
  fixture.store->fails = true;
  for (int i = 0; i < 50; ++i) {
    CHECK_FALSE(fixture.level.fetch(sample_key(i), false));
    CHECK_FALSE(fixture.level.keep(sample_key(i), sample_artifact(), nvrtc));
    CHECK(fixture.level.lease(sample_key(i), 1s) == nullptr);
  }
  CHECK(fixture.store->requests <= 10);  // one, unless this machine is so slow that pauses end
  CHECK(log.lines() == 1);
  CHECK_THAT(log.text(), ContainsSubstring("the store of a test is not used for 100 ms: it is down"));
  fixture.store->fails = false;
  std::this_thread::sleep_for(120ms);
  CHECK(fixture.level.keep(sample_key(), sample_artifact(), nvrtc));
  CHECK(log.lines() == 2);
  CHECK_THAT(log.text(), ContainsSubstring("answers again"));
}

TEST_CASE("one caller has the lease of a kernel, and a second waits until the kernel is kept") {
  const LevelFixture fixture;
  auto first = fixture.level.lease(sample_key(), 10s);
  REQUIRE(first != nullptr);
  CHECK_FALSE(first->timed_out());
  std::atomic<bool> is_kept = false;
  std::jthread second([&] {
    const auto lease = fixture.level.lease(sample_key(), 10s);
    CHECK(is_kept);
    CHECK((lease != nullptr && !lease->timed_out()));
  });
  std::this_thread::sleep_for(50ms);
  is_kept = true;
  REQUIRE(fixture.level.keep(sample_key(), sample_artifact(), nvrtc));
  second.join();
  CHECK(fixture.store->leases.size() == 1);
  first.reset();
  CHECK(fixture.store->leases.empty());
}

TEST_CASE("a lease is released when its maker fails, and the next caller takes it") {
  const LevelFixture fixture;
  auto first = fixture.level.lease(sample_key(), 10s);
  std::jthread second([&] {
    const auto lease = fixture.level.lease(sample_key(), 10s);
    CHECK((lease != nullptr && !lease->timed_out()));
    CHECK(fixture.store->leases.size() == 1);
  });
  std::this_thread::sleep_for(20ms);
  first.reset();
  second.join();
  CHECK(fixture.store->leases.empty());
}

TEST_CASE("a store that says for ever that another machine works costs one wait, then pauses") {
  const LevelFixture fixture;
  fixture.store->always_busy = true;
  const auto start = std::chrono::steady_clock::now();
  const auto lease = fixture.level.lease(sample_key(1), 50ms);
  REQUIRE(lease != nullptr);
  CHECK(lease->timed_out());
  for (unsigned i = 2; i < 20; ++i) CHECK(fixture.level.lease(sample_key(i), 10s) == nullptr);
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

}  // namespace fleet_level_test
