// Servers that answer wrong, late, never or without end.
#include "cache/entry_format.hpp"
#include "cache/samples.hpp"
#include "captured_log.hpp"
#include "fleet/fleet_level.hpp"
#include "fleet/scripted_server.hpp"
#include "seed.hpp"

#include <random>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using namespace std::chrono_literals;
using tests::sample_artifact;
using tests::sample_key;
using tests::ScriptedServer;
using Connection = ScriptedServer::Connection;

namespace redis_liar_test {
namespace {

const CompilerIdentity nvrtc{13, 0, "build", "/somewhere", "stamp"};

/// Asks for everything that a runtime asks for. Returns the time that it took. Nothing may be found.
std::chrono::milliseconds ask_all(const KernelLevel& level, unsigned kernels) {
  const auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < kernels; ++i) {
    CHECK(level.usable_compilers().empty());
    CHECK_FALSE(level.fetch(sample_key(i), false));
    const auto lease = level.lease(sample_key(i), 20ms);
    (void)level.keep(sample_key(i), sample_artifact(), nvrtc);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
}

struct Liar {
  const char* name;
  ScriptedServer::Script script;
};

std::vector<Liar> liars() {
  const auto says = [](std::string text) {
    return [text](const Connection& connection, std::string_view) { return connection.send(text); };
  };
  const std::string entry = encode_entry(sample_key(1'000'000), sample_artifact());
  return {{"another key's entry", says(fmt::format("${}\r\n{}\r\n", entry.size(), entry))},
          {"garbage", says("\x01\x02\x03 garbage\r\n\r\n")},
          {"HTTP", says("HTTP/1.1 400 Bad Request\r\n\r\n")},
          {"integers", says(":7\r\n")},
          {"busy for ever", says(":0\r\n")},
          {"errors", says("-ERR \x1b[31mno\r\n")},
          {"nil", says("$-1\r\n")},
          {"two answers", says("$-1\r\n$-1\r\n")},
          {"a huge array", says("*2147483647\r\n")},
          {"a huge text", says("$9000000000000000000\r\n")},
          {"closed connections", [](const Connection&, std::string_view) { return false; }},
          {"silence", [](const Connection&, std::string_view) { return true; }},
          {"half an answer", says("$100\r\nhalf")},
          {"an endless answer",
           [](const Connection& connection, std::string_view) {
             const std::string piece(1 << 16, 'x');
             bool goes_on = connection.send("$60000000\r\n");
             while (goes_on) goes_on = connection.send(piece);
             return false;
           }},
          {"a byte now and then", [](const Connection& connection, std::string_view) {
             while (connection.send("$")) std::this_thread::sleep_for(5ms);
             return false;
           }}};
}

}  // namespace

TEST_CASE("a server that lies, is slow or ends connections gives no kernel, and costs a bounded time") {
  for (const Liar& liar : liars()) {
    INFO(liar.name);
    const ScriptedServer server(liar.script);
    const tests::CapturedLog log;
    const auto level = make_fleet_level({.url = server.url(), .max_wait = 50ms});
    // After the first failure the store is left alone for a second. A server whose answers are well formed is
    // asked each time.
    const auto time = ask_all(*level, 20);
    CHECK(time < 2s);
    CHECK(log.lines() <= 3);
    CHECK(log.text().find('\x1b') == std::string::npos);
    // On a busy machine the server may read the request after the client has given up.
    for (int i = 0; i < 500 && server.requests() == 0; ++i) std::this_thread::sleep_for(10ms);
    CHECK(server.requests() > 0);
  }
}

TEST_CASE("random bytes from a server give no kernel") {
  const auto seed = tests::seed(3);
  INFO("seed " << seed);
  for (unsigned i = 0; i < 40; ++i) {
    std::mt19937_64 random(seed + i);
    const ScriptedServer server([&](const Connection& connection, std::string_view) {
      std::string bytes(random() % 200, '\0');
      for (char& byte : bytes)
        byte = static_cast<char>(random() % 3 == 0 ? "*$:+-\r\n012"[random() % 10] : random());
      return connection.send(bytes);
    });
    const tests::CapturedLog log;
    const auto level = make_fleet_level({.url = server.url(), .max_wait = 20ms});
    CHECK(ask_all(*level, 2) < 2s);
  }
}

}  // namespace redis_liar_test
