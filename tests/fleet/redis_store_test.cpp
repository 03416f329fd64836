// The store in a real Redis server.
#include "fleet/redis_store.hpp"

#include "cache/samples.hpp"
#include "captured_log.hpp"
#include "fleet/fleet_level.hpp"
#include "fleet/redis_server.hpp"
#include "runtime/child_process.hpp"

#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using tests::RedisServer;
using tests::sample_artifact;
using tests::sample_key;

namespace redis_store_test {
namespace {

const CompilerIdentity nvrtc{13, 0, "build", "/somewhere", "stamp"};

/// Options with a limit of time that a busy machine keeps.
FleetOptions patient(std::string url) {
  return {.url = std::move(url), .max_wait = 5s};
}

std::shared_ptr<const RedisStore> store_of(const FleetOptions& options) {
  return std::make_shared<const RedisStore>(address_of(options), options, options.max_entry_bytes);
}

bool keeps_and_finds(const FleetOptions& options, unsigned number = 1) {
  const auto level = make_fleet_level(options);
  const auto other = make_fleet_level(options);
  return level->keep(sample_key(number), sample_artifact(100'000), nvrtc) &&
         other->fetch(sample_key(number), false).has_value();
}

}  // namespace

TEST_CASE("a kernel that one process keeps in Redis is found by another") {
  const RedisServer server;
  const auto level = make_fleet_level(patient(server.url()));
  CHECK_FALSE(level->has(sample_key()));
  CHECK_FALSE(level->fetch(sample_key(), false));
  CHECK(keeps_and_finds(patient(server.url())));
  CHECK(make_fleet_level(patient(server.url()))->all_compilers().size() == 1);
  // Keys of another prefix or database are other keys.
  FleetOptions other = patient(server.url());
  other.prefix = "other";
  CHECK_FALSE(make_fleet_level(other)->has(sample_key(1)));
}

TEST_CASE(
    "Redis's lease is taken once, ends by release or time, and is not given for a kernel that is there") {
  const RedisServer server;
  FleetOptions options = patient(server.url());
  options.lease = 300ms;
  const auto store = store_of(options);
  CHECK(store->try_lease(sample_key(), "a") == Turn::taken);
  CHECK(store->try_lease(sample_key(), "b") == Turn::busy);
  store->release(sample_key(), "b");
  CHECK(store->try_lease(sample_key(), "b") == Turn::busy);
  store->release(sample_key(), "a");
  CHECK(store->try_lease(sample_key(), "b") == Turn::taken);
  std::this_thread::sleep_for(400ms);
  CHECK(store->try_lease(sample_key(), "c") == Turn::taken);
  store->put(sample_key(), "kernel");
  CHECK(store->try_lease(sample_key(), "d") == Turn::made);
}

TEST_CASE("an entry with a time to live is removed by Redis") {
  const RedisServer server;
  FleetOptions options = patient(server.url());
  options.time_to_live = 1s;
  const auto store = store_of(options);
  store->put(sample_key(), "kernel");
  CHECK(store->get(sample_key()) == "kernel");
  for (int i = 0; i < 300 && store->has(sample_key()); ++i) std::this_thread::sleep_for(10ms);
  CHECK_FALSE(store->get(sample_key()));
}

TEST_CASE("Redis by TCP, with a database, a user and a password") {
  const std::string port = std::to_string(tests::free_port());
  const RedisServer server({"--bind", "127.0.0.1", "--port", port, "--user", "me", "on", ">word", "~*",
                            "+@all", "--user", "default", "off"});
  const std::string host = "127.0.0.1:" + port;
  CHECK(keeps_and_finds(patient("redis://me:word@" + host + "/3")));
  CHECK_FALSE(make_fleet_level(patient("redis://me:word@" + host + "/4"))->has(sample_key(1)));
  CHECK(make_fleet_level(patient("redis://me:word@localhost:" + port + "/3"))->has(sample_key(1)));
  const tests::CapturedLog log;
  FleetOptions wrong = patient("redis://me@" + host);
  wrong.password = "guess";
  CHECK_FALSE(keeps_and_finds(wrong));
  CHECK_THAT(log.text(), ContainsSubstring("refuses AUTH") && !ContainsSubstring("guess"));
  CHECK_FALSE(keeps_and_finds(patient("redis://" + host)));
}

TEST_CASE("an idle connection that the server has closed is replaced without a failure") {
  RedisServer server;
  const auto level = make_fleet_level(patient(server.url()));
  CHECK_FALSE(level->has(sample_key()));
  server.kill();
  server.start();
  const tests::CapturedLog log;
  CHECK(level->keep(sample_key(), sample_artifact(), nvrtc));
  CHECK(log.lines() == 0);
}

TEST_CASE("a forked child makes connections of its own") {
  const RedisServer server;
  const auto level = make_fleet_level(patient(server.url()));
  for (unsigned i = 0; i < 20; ++i)
    REQUIRE(level->keep(sample_key(i), sample_artifact(40, char('a' + i)), nvrtc));
  const auto reads_all = [&] {
    for (unsigned i = 0; i < 200; ++i) {
      const auto found = level->fetch(sample_key(i % 20), false);
      if (!found || !tests::same(*found, sample_artifact(40, char('a' + i % 20)))) return 1;
    }
    return 0;
  };
  std::vector<ChildProcess> children;
  for (int i = 0; i < 4; ++i) children.emplace_back(reads_all);
  CHECK(reads_all() == 0);
  for (ChildProcess& child : children) CHECK(child.exit_code(60s) == 0);
}

TEST_CASE("a Redis server that is stopped or killed costs one wait, and is used again when it answers") {
  RedisServer server;
  const FleetOptions options{.url = server.url(), .max_wait = 500ms};
  const FleetLevel level(store_of(options), options, {.first = 2s, .longest = 2s});
  REQUIRE(level.keep(sample_key(), sample_artifact(), nvrtc));
  for (const bool is_killed : {false, true}) {
    INFO((is_killed ? "killed" : "stopped"));
    if (is_killed)
      server.kill();
    else
      server.signal(SIGSTOP);
    const auto start = std::chrono::steady_clock::now();
    CHECK_FALSE(level.fetch(sample_key(), false));
    for (unsigned i = 0; i < 1000; ++i) (void)level.fetch(sample_key(i), false);
    CHECK(std::chrono::steady_clock::now() - start < 2s);
    if (is_killed)
      server.start();
    else
      server.signal(SIGCONT);
    bool is_used = false;
    for (int i = 0; i < 500 && !is_used; ++i) {
      std::this_thread::sleep_for(20ms);
      is_used = level.keep(sample_key(), sample_artifact(), nvrtc);
    }
    CHECK(is_used);
    CHECK(level.fetch(sample_key(), false));
  }
}

TEST_CASE("a server without memory for an entry fails no request") {
  const RedisServer server({"--port", "0", "--maxmemory", "2mb", "--maxmemory-policy", "noeviction"});
  const tests::CapturedLog log;
  const auto level = make_fleet_level(patient(server.url()));
  bool is_kept = true;
  for (unsigned i = 0; i < 20 && is_kept; ++i)
    is_kept = level->keep(sample_key(i), sample_artifact(500'000), nvrtc);
  CHECK_FALSE(is_kept);
  CHECK_THAT(log.text(), ContainsSubstring("refuses SET: OOM"));
}

}  // namespace redis_store_test
