#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

TMAJIT_BEGIN

/// A reply of Redis.
struct RedisReply {
  enum class Kind { nil, text, status, error, integer, array };
  Kind kind = Kind::nil;
  std::string text = {};  ///< of a text, a status or an error
  std::int64_t integer = 0;
  std::vector<RedisReply> items = {};
};

/// Reads replies from the bytes of a connection, by hiredis. Accepts any bytes, and takes no more memory than
/// the bytes of one reply.
class RedisReplyReader {
 public:
  explicit RedisReplyReader(std::size_t max_bytes);

  /// Throws StoreFailure if a reply has more than `max_bytes`.
  void feed(std::string_view bytes);
  /// The next complete reply. Throws StoreFailure if the bytes are no replies.
  [[nodiscard]] std::optional<RedisReply> next();
  /// Whether all bytes were read as replies.
  [[nodiscard]] bool is_empty() const noexcept;

 private:
  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };
  std::unique_ptr<redisReader, Free> reader_;
  std::size_t max_bytes_;
  std::size_t pending_ = 0;  ///< bytes since the last complete reply
};

TMAJIT_END
