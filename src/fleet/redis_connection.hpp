#pragma once

#include "fleet/channel.hpp"
#include "fleet/redis_reply.hpp"
#include "fleet/tls.hpp"

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A connection to a Redis server. For one thread at a time.
class RedisConnection {
 public:
  /// Connects and logs in. Throws StoreFailure.
  RedisConnection(const FleetAddress& address, const Tls* tls, std::size_t max_reply_bytes,
                  Deadline deadline);

  /// The server's reply to a command. Throws StoreFailure if it is an error. After an exception the
  /// connection must not be used again, because the reply may still arrive.
  [[nodiscard]] RedisReply ask(const std::vector<std::string_view>& words, Deadline deadline);

  /// Whether the server had closed the connection before it sent a byte of a reply. It does so with idle
  /// connections.
  [[nodiscard]] bool was_closed() const noexcept { return was_closed_; }
  /// Whether another process, the parent of this one, has made the connection.
  [[nodiscard]] bool is_inherited() const noexcept;

 private:
  std::unique_ptr<Channel> channel_;
  RedisReplyReader reader_;
  int process_;
  bool was_closed_ = false;
};

TMAJIT_END
