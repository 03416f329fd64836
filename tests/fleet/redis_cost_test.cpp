// The time of a hit in a Redis server on this machine.
#include "cache/samples.hpp"
#include "first_decile.hpp"
#include "fleet/fleet_level.hpp"
#include "fleet/redis_server.hpp"
#include "measurable.hpp"

#include <cstdio>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::first_decile_us;
using tests::sample_artifact;
using tests::sample_key;

TEST_CASE("a hit in a Redis server of the same host costs less than a millisecond") {
  const std::string port = std::to_string(tests::free_port());
  const tests::RedisServer server({"--bind", "127.0.0.1", "--port", port});
  const CompilerIdentity nvrtc{13, 0, "build", "/somewhere", "stamp"};
  for (const std::string& url : {"redis://127.0.0.1:" + port, server.url()}) {
    for (const char* secret : {"", "secret"}) {
      const auto level =
          make_fleet_level({.url = url, .secret = secret, .max_wait = std::chrono::seconds(5)});
      const auto artifact = sample_artifact(20000);  // three parts: an entry of 60 KB
      unsigned found = 0;
      const auto keep =
          first_decile_us([&](unsigned i) { found += level->keep(sample_key(i % 50), artifact, nvrtc); });
      const auto hit =
          first_decile_us([&](unsigned i) { found += level->fetch(sample_key(i % 50), false).has_value(); });
      const auto miss =
          first_decile_us([&](unsigned) { found += level->fetch(sample_key(99), false).has_value(); });
      std::printf("Redis by %s, %s: keep of 60 KB %.0f us, hit %.0f us, miss %.0f us\n",
                  url.starts_with("redis://") ? "TCP" : "a Unix domain socket",
                  *secret == '\0' ? "not signed" : "signed", keep, hit, miss);
      REQUIRE(found == 602);
      if (TMAJIT_MEASURABLE) CHECK(hit < 1000);
    }
  }
}
