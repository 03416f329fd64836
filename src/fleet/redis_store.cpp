#include "fleet/redis_store.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using Kind = RedisReply::Kind;

/// Connections that are kept open between requests. More threads open connections of their own.
constexpr std::size_t max_idle = 8;

// Scripts run atomically. KEYS[1] is the lease.
constexpr std::string_view take_lease =
    "if redis.call('EXISTS', KEYS[2]) == 1 then return 2 end\n"
    "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end\n"
    "return 0";
constexpr std::string_view release_lease =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end\n"
    "return 0";

[[noreturn]] void fail_by_kind(std::string_view command) {
  throw StoreFailure(fmt::format("its answer to {} is of another type", command));
}

std::int64_t integer_of(const RedisReply& reply, std::string_view command) {
  if (reply.kind != Kind::integer) fail_by_kind(command);
  return reply.integer;
}

}  // namespace

RedisStore::RedisStore(FleetAddress address, const FleetOptions& options, std::size_t max_bytes)
    : address_(std::move(address)), options_(options), max_bytes_(max_bytes) {
  if (address_.kind == FleetAddress::Kind::tls) tls_.emplace(options_);
}

std::string RedisStore::kernel_name(const CacheKey& key) const {
  // A cluster keeps keys with the same text between braces on the same server, as scripts of both need.
  return fmt::format("{}:{{{}}}", options_.prefix, key.hex());
}

std::string RedisStore::lease_name(const CacheKey& key) const {
  return kernel_name(key) + ":lease";
}

std::unique_ptr<RedisConnection> RedisStore::idle_connection() const {
  for (;;) {
    // Connections are destroyed outside the lock.
    std::unique_ptr<RedisConnection> connection = idle_.use([](Pool& pool) {
      std::unique_ptr<RedisConnection> last;
      if (!pool.empty()) {
        last = std::move(pool.back());
        pool.pop_back();
      }
      return last;
    });
    if (connection == nullptr || !connection->is_inherited()) return connection;
  }
}

RedisReply RedisStore::ask(const std::vector<std::string_view>& words) const {
  const Deadline deadline = std::chrono::steady_clock::now() + options_.max_wait;
  for (;;) {
    std::unique_ptr<RedisConnection> connection = idle_connection();
    const bool is_reused = connection != nullptr;
    if (!is_reused) {
      // A reply's frame has some bytes beside the value.
      constexpr std::size_t frame_bytes = 65536;
      connection = std::make_unique<RedisConnection>(address_, tls_ ? &*tls_ : nullptr,
                                                     max_bytes_ + frame_bytes, deadline);
    }
    try {
      RedisReply reply = connection->ask(words, deadline);
      idle_.use([&](Pool& pool) {
        if (pool.size() < max_idle) pool.push_back(std::move(connection));
      });
      return reply;
    } catch (const StoreFailure&) {
      const bool is_late = std::chrono::steady_clock::now() >= deadline;
      if (!is_reused || !connection->was_closed() || is_late) throw;
    }
  }
}

std::optional<std::string> RedisStore::get(const CacheKey& key) const {
  RedisReply reply = ask({"GET", kernel_name(key)});
  if (reply.kind == Kind::nil) return std::nullopt;
  if (reply.kind != Kind::text) fail_by_kind("GET");
  return std::move(reply.text);
}

bool RedisStore::has(const CacheKey& key) const {
  return integer_of(ask({"EXISTS", kernel_name(key)}), "EXISTS") == 1;
}

void RedisStore::put(const CacheKey& key, std::string_view bytes) const {
  const std::string name = kernel_name(key);
  const std::string seconds = std::to_string(options_.time_to_live.count());
  std::vector<std::string_view> words{"SET", name, bytes};
  if (options_.time_to_live.count() > 0) words.insert(words.end(), {"EX", seconds});
  if (ask(words).kind != Kind::status) fail_by_kind("SET");
}

std::vector<std::string> RedisStore::compilers() const {
  RedisReply reply = ask({"SMEMBERS", options_.prefix + ":compilers"});
  if (reply.kind != Kind::array) fail_by_kind("SMEMBERS");
  std::vector<std::string> records;
  for (RedisReply& item : reply.items)
    if (item.kind == Kind::text) records.push_back(std::move(item.text));
  return records;
}

void RedisStore::add_compiler(std::string_view record) const {
  (void)integer_of(ask({"SADD", options_.prefix + ":compilers", record}), "SADD");
}

Turn RedisStore::try_lease(const CacheKey& key, std::string_view token) const {
  const std::string milliseconds = std::to_string(options_.lease.count());
  switch (integer_of(ask({"EVAL", take_lease, "2", lease_name(key), kernel_name(key), token, milliseconds}),
                     "EVAL")) {
    case 0: return Turn::busy;
    case 1: return Turn::taken;
    case 2: return Turn::made;
    default: fail_by_kind("EVAL");
  }
}

void RedisStore::release(const CacheKey& key, std::string_view token) const {
  (void)integer_of(ask({"EVAL", release_lease, "1", lease_name(key), token}), "EVAL");
}

TMAJIT_END
