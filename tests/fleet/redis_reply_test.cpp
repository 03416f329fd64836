#include "fleet/redis_reply.hpp"

#include "fleet/store.hpp"
#include "seed.hpp"

#include <random>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using Kind = RedisReply::Kind;

namespace redis_reply_test {
namespace {

std::string encode(const RedisReply& reply) {
  switch (reply.kind) {
    case Kind::nil: return "$-1\r\n";
    case Kind::text: return fmt::format("${}\r\n{}\r\n", reply.text.size(), reply.text);
    case Kind::status: return "+" + reply.text + "\r\n";
    case Kind::error: return "-" + reply.text + "\r\n";
    case Kind::integer: return fmt::format(":{}\r\n", reply.integer);
    case Kind::array: break;
  }
  std::string text = fmt::format("*{}\r\n", reply.items.size());
  for (const RedisReply& item : reply.items) text += encode(item);
  return text;
}

RedisReply random_reply(std::mt19937_64& random, int depth = 0) {
  RedisReply reply;
  reply.kind = static_cast<Kind>(random() % (depth < 3 ? 6 : 5));
  if (reply.kind == Kind::text)
    for (auto i = random() % 100; i > 0; --i) reply.text += static_cast<char>(random());
  if (reply.kind == Kind::status || reply.kind == Kind::error)
    reply.text = "WORD " + std::to_string(random());
  if (reply.kind == Kind::integer) reply.integer = static_cast<std::int64_t>(random());
  if (reply.kind == Kind::array)
    for (auto i = random() % 5; i > 0; --i) reply.items.push_back(random_reply(random, depth + 1));
  return reply;
}

}  // namespace

TEST_CASE("random replies are read as they were written, in pieces of any size") {
  const auto seed = tests::seed(1);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 500; ++i) {
    RedisReplyReader reader(1 << 20);
    for (int replies = 0; replies < 3; ++replies) {
      const RedisReply reply = random_reply(random);
      const std::string bytes = encode(reply);
      std::optional<RedisReply> found;
      for (std::size_t at = 0; at < bytes.size();) {
        REQUIRE_FALSE(found);
        const std::size_t count = 1 + random() % 20;
        reader.feed(std::string_view(bytes).substr(at, count));
        at += count;
        found = reader.next();
      }
      REQUIRE(found);
      CHECK(reader.is_empty());
      CHECK(encode(*found) == bytes);
    }
  }
}

TEST_CASE("random bytes are rejected or wait for more, and end no process") {
  const auto seed = tests::seed(2);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  int rejected = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = encode(random_reply(random));
    for (auto changes = 1 + random() % 4; changes > 0; --changes)
      bytes[random() % bytes.size()] = "*$:+-#,%~>_(=!|0129\r\n\0x"[random() % 24];
    try {
      RedisReplyReader reader(1 << 20);
      reader.feed(bytes);
      while (reader.next().has_value()) {
      }
    } catch (const StoreFailure&) {
      ++rejected;
    }
  }
  CHECK(rejected > 100);
}

TEST_CASE("a reply above the limit is rejected while it arrives") {
  RedisReplyReader reader(1000);
  reader.feed("$2000000000\r\n");
  CHECK_FALSE(reader.next());
  CHECK_THROWS_AS(reader.feed(std::string(1000, 'x')), StoreFailure);
}

TEST_CASE("arrays that name more items than tmajit asks for take no memory") {
  for (const char* count : {"1025", "1000000000", "2147483647", "4294967297", "1152921504606846977"}) {
    RedisReplyReader reader(1 << 20);
    reader.feed(fmt::format("*{}\r\n", count));
    CHECK_THROWS_AS(reader.next(), StoreFailure);
  }
}

TEST_CASE("deep arrays and replies of the protocol's version 3 are rejected") {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "*1\r\n";
  for (const std::string& bytes : {deep, std::string(",1.5\r\n"), std::string("#t\r\n")}) {
    RedisReplyReader reader(1 << 20);
    reader.feed(bytes);
    CHECK_THROWS_AS(reader.next(), StoreFailure);
  }
}

}  // namespace redis_reply_test
