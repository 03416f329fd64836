#include "fleet/address.hpp"

#include "error_of.hpp"
#include "fleet/fleet_level.hpp"
#include "temporary_folder.hpp"

#include <cstdlib>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

FleetAddress parse_url(const std::string& url) {
  return address_of({.url = url});
}

}  // namespace

TEST_CASE("a store's URL has the parts that Redis's clients read") {
  using Kind = FleetAddress::Kind;
  const FleetAddress full = parse_url("redis://me:p%40ss@host:7000/3");
  CHECK(full.kind == Kind::tcp);
  CHECK(full.host == "host");
  CHECK(full.port == "7000");
  CHECK(full.database == "3");
  CHECK(full.user == "me");
  CHECK(full.password == "p@ss");
  CHECK(full.text() == "host:7000");

  const FleetAddress secure = parse_url("rediss://:word@[::1]");
  CHECK(secure.kind == Kind::tls);
  CHECK(secure.host == "::1");
  CHECK(secure.port == "6379");
  CHECK(secure.user.empty());
  CHECK(secure.password == "word");
  CHECK(secure.text() == "[::1]:6379");

  CHECK(parse_url("redis+unix:///run/redis%20x.sock").path == "/run/redis x.sock");
  CHECK(parse_url("file:///shared/kernels").kind == Kind::folder);
  CHECK(parse_url("file:///shared/kernels").path == "/shared/kernels");
}

TEST_CASE("the options' user and password replace those of the URL") {
  const FleetAddress address =
      address_of({.url = "redis://me:word@host", .user = "you", .password = "other"});
  CHECK(address.user == "you");
  CHECK(address.password == "other");
}

TEST_CASE("URLs of no store are refused with the legal ones, and without the password") {
  for (const char* url : {"host", "http://host", "redis://", "redis://host:0", "redis://host:x",
                          "redis://host:70000", "redis://host/x", "redis://[::1", "redis://ho st",
                          "redis://%4@host", "file://relative", "redis+unix://x"}) {
    INFO(url);
    const Error error = tests::error_of([&] { return parse_url(url); });
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK_THAT(error.what(), ContainsSubstring("legal are redis://"));
  }
  CHECK_THAT(tests::error_of([] { return parse_url("redis://me:p4ss@host:x"); }).what(),
             !ContainsSubstring("p4ss") && ContainsSubstring("@host:x"));
}

TEST_CASE("illegal options of a fleet are refused when the level is made") {
  using namespace std::chrono_literals;
  const auto refuses = [](FleetOptions options) {
    options.url = "file:///shared";
    return tests::error_of([&] { return make_fleet_level(options); }).code() == ErrorCode::invalid_argument;
  };
  CHECK(make_fleet_level({}) == nullptr);
  CHECK(make_fleet_level({.url = "file:///shared"})->kind() == CacheLevel::fleet);
  CHECK(refuses({.max_wait = 0ms}));
  CHECK(refuses({.max_wait = 2min}));
  CHECK(refuses({.lease = 0ms}));
  CHECK(refuses({.time_to_live = -1s}));
  CHECK(refuses({.max_entry_bytes = 0}));
  CHECK(refuses({.prefix = ""}));
}

TEST_CASE("a fleet's options come from the environment, and its secrets from files") {
  const TemporaryFolder folder;
  tests::write_file(folder / "secret", "from a file\n");
  ::setenv("TMAJIT_FLEET_SECRET_FILE", (folder / "secret").c_str(), 1);
  ::setenv("TMAJIT_FLEET_PASSWORD", "word", 1);
  CHECK(FleetOptions::from_environment().secret.empty());  // there is no fleet
  ::setenv("TMAJIT_FLEET", "redis://host", 1);
  const FleetOptions options = FleetOptions::from_environment();
  CHECK(options.url == "redis://host");
  CHECK(options.secret == "from a file");
  CHECK(options.password == "word");
  ::setenv("TMAJIT_FLEET_SECRET_FILE", (folder / "none").c_str(), 1);
  const Error error = tests::error_of([] { return FleetOptions::from_environment(); });
  CHECK(error.code() == ErrorCode::io);
  CHECK_THAT(error.what(), ContainsSubstring("TMAJIT_FLEET_SECRET_FILE"));
  for (const char* name : {"TMAJIT_FLEET", "TMAJIT_FLEET_SECRET_FILE", "TMAJIT_FLEET_PASSWORD"})
    ::unsetenv(name);
}
