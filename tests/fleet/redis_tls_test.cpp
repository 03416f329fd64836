// TLS to a Redis server with certificates that openssl makes.
#include "cache/samples.hpp"
#include "captured_log.hpp"
#include "error_of.hpp"
#include "fleet/fleet_level.hpp"
#include "fleet/redis_server.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using tests::sample_artifact;
using tests::sample_key;

namespace redis_tls_test {
namespace {

void run(const std::string& command) {
  INFO(command);
  REQUIRE(std::system((command + " >/dev/null 2>&1").c_str()) == 0);
}

/// An authority `ca`, and certificates that it has signed: `server` for localhost and 127.0.0.1, `client`.
struct Certificates {
  Certificates() {
    tests::skip_without("openssl");
    run("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout " + key("ca") + " -out " +
        certificate("ca"));
    sign("server", "subjectAltName=DNS:localhost,IP:127.0.0.1");
    sign("client", "subjectAltName=DNS:client");
  }
  [[nodiscard]] std::string key(const std::string& name) const { return folder / (name + ".key"); }
  [[nodiscard]] std::string certificate(const std::string& name) const { return folder / (name + ".crt"); }

  TemporaryFolder folder;

 private:
  void sign(const std::string& name, const std::string& names) const {
    tests::write_file(folder / (name + ".ext"), names);
    run("openssl req -newkey rsa:2048 -nodes -subj /CN=" + name + " -keyout " + key(name) + " -out " +
        (folder / (name + ".csr")));
    run("openssl x509 -req -days 2 -CAcreateserial -in " + (folder / (name + ".csr")) + " -CA " +
        certificate("ca") + " -CAkey " + key("ca") + " -extfile " + (folder / (name + ".ext")) + " -out " +
        certificate(name));
  }
};

bool keeps_and_finds(const FleetOptions& options) {
  const CompilerIdentity nvrtc{13, 0, "build", "/somewhere", "stamp"};
  return make_fleet_level(options)->keep(sample_key(), sample_artifact(300'000), nvrtc) &&
         make_fleet_level(options)->fetch(sample_key(), false).has_value();
}

}  // namespace

TEST_CASE("TLS with a client's certificate, and without what the server or the client asks for") {
  const Certificates certificates;
  const std::string port = std::to_string(tests::free_port());
  const tests::RedisServer server({"--port", "0", "--tls-port", port, "--bind", "127.0.0.1",
                                   "--tls-cert-file", certificates.certificate("server"), "--tls-key-file",
                                   certificates.key("server"), "--tls-ca-cert-file",
                                   certificates.certificate("ca")});
  FleetOptions options{.url = "rediss://localhost:" + port, .max_wait = 10s};
  options.ca_file = certificates.certificate("ca");
  options.certificate_file = certificates.certificate("client");
  options.key_file = certificates.key("client");
  CHECK(keeps_and_finds(options));
  FleetOptions by_address = options;
  by_address.url = "rediss://127.0.0.1:" + port;
  CHECK(keeps_and_finds(by_address));

  const auto fails = [](const FleetOptions& wrong, const char* reason) {
    const tests::CapturedLog log;
    CHECK_FALSE(keeps_and_finds(wrong));
    CHECK_THAT(log.text(), ContainsSubstring(reason));
  };
  FleetOptions other_host = options;
  other_host.url = "rediss://127.0.0.2:" + port;  // the server does not listen there, or has another name
  fails(other_host, "is not used");
  FleetOptions no_authority = options;
  no_authority.ca_file = certificates.certificate("client");
  fails(no_authority, "certificate");
  FleetOptions no_client = options;
  no_client.certificate_file.clear();
  no_client.key_file.clear();
  fails(no_client, "is not used");
  FleetOptions plain = options;
  plain.url = "redis://localhost:" + port;
  fails(plain, "is not used");
}

TEST_CASE("files of certificates that OpenSSL refuses, and a key alone, are refused when the level is made") {
  const Certificates certificates;
  const auto message = [](FleetOptions options) {
    options.url = "rediss://localhost";
    const Error error = tests::error_of([&] { return make_fleet_level(options); });
    CHECK(error.code() == ErrorCode::invalid_argument);
    return std::string(error.what());
  };
  CHECK_THAT(message({.ca_file = "/none"}), ContainsSubstring("the file of authorities /none"));
  CHECK_THAT(message({.key_file = certificates.key("client")}), ContainsSubstring("set both files or none"));
  CHECK_THAT(
      message({.certificate_file = certificates.certificate("client"), .key_file = certificates.key("ca")}),
      ContainsSubstring("the key"));
}

}  // namespace redis_tls_test
