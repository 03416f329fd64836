#pragma once

#include "fleet/redis_connection.hpp"
#include "fleet/store.hpp"
#include "spec/fork_safe.hpp"

#include <tmajit/fleet.hpp>

#include <memory>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// A fleet's store in Redis 6 or later, or a server that speaks its protocol. Its keys, for the prefix
/// tmajit:
///
///   tmajit:{<kernel's key>}        the kernel
///   tmajit:{<kernel's key>}:lease  the token of the machine that makes it
///   tmajit:compilers               a set of records of compilers
class RedisStore final : public FleetStore {
 public:
  /// Connects on the first request. `max_bytes` is the size of the largest value.
  RedisStore(FleetAddress address, const FleetOptions& options, std::size_t max_bytes);

  [[nodiscard]] std::string name() const override { return "the Redis store at " + address_.text(); }
  [[nodiscard]] std::optional<std::string> get(const CacheKey& key) const override;
  [[nodiscard]] bool has(const CacheKey& key) const override;
  void put(const CacheKey& key, std::string_view bytes) const override;
  [[nodiscard]] std::vector<std::string> compilers() const override;
  void add_compiler(std::string_view record) const override;
  [[nodiscard]] Turn try_lease(const CacheKey& key, std::string_view token) const override;
  void release(const CacheKey& key, std::string_view token) const override;

 private:
  using Pool = std::vector<std::unique_ptr<RedisConnection>>;

  /// The reply to a command, by an idle connection or a new one.
  [[nodiscard]] RedisReply ask(const std::vector<std::string_view>& words) const;
  [[nodiscard]] std::unique_ptr<RedisConnection> idle_connection() const;
  [[nodiscard]] std::string kernel_name(const CacheKey& key) const;
  [[nodiscard]] std::string lease_name(const CacheKey& key) const;

  FleetAddress address_;
  FleetOptions options_;
  std::size_t max_bytes_;
  std::optional<Tls> tls_;
  mutable ForkSafe<Pool> idle_;
};

TMAJIT_END
