#include "fleet/circuit_breaker.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace std::chrono_literals;

TEST_CASE("a store that fails is tried again after growing pauses, by one request at a time") {
  CircuitBreaker breaker(1s, 5s);
  const auto start = CircuitBreaker::Clock::time_point(1h);
  auto now = start;
  const auto first = breaker.admit(now);
  const auto second = breaker.admit(now);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(breaker.failed(*first, now));
  CHECK_FALSE(breaker.failed(*second, now));  // the same outage
  for (const auto pause : {1s, 2s, 4s, 5s, 5s}) {
    CHECK(breaker.pause() == pause);
    CHECK_FALSE(breaker.admit(now + pause - 1ms));
    now += pause;
    const auto probe = breaker.admit(now);
    REQUIRE(probe);
    CHECK_FALSE(breaker.admit(now));
    CHECK_FALSE(breaker.failed(*probe, now));
  }
  now += 5s;
  REQUIRE(breaker.admit(now));
  CHECK(breaker.succeeded());
  CHECK_FALSE(breaker.succeeded());
  CHECK(breaker.admit(now));
  CHECK(breaker.admit(now));
}
