#include "fleet/redis_connection.hpp"

#include "fleet/store.hpp"

#include <array>
#include <cctype>

#include <hiredis/hiredis.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

/// A command in the bytes of Redis's protocol.
std::string encode_command(const std::vector<std::string_view>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> lengths;
  for (const std::string_view word : words) {
    texts.push_back(word.data());
    lengths.push_back(word.size());
  }
  char* bytes = nullptr;
  const auto count =
      ::redisFormatCommandArgv(&bytes, static_cast<int>(words.size()), texts.data(), lengths.data());
  if (count < 0) throw StoreFailure("hiredis has no memory");
  const std::unique_ptr<char, void (*)(char*)> owned(bytes, [](char* each) { ::redisFreeCommand(each); });
  return {bytes, static_cast<std::size_t>(count)};
}

/// A text of the server as part of a line of the log.
std::string printable(std::string_view text) {
  constexpr std::size_t longest = 200;
  std::string result(text.substr(0, longest));
  for (char& c : result)
    if (std::isprint(static_cast<unsigned char>(c)) == 0) c = '?';
  return result;
}

}  // namespace

RedisConnection::RedisConnection(const FleetAddress& address, const Tls* tls, std::size_t max_reply_bytes,
                                 Deadline deadline)
    : channel_(connect_socket(address, deadline)), reader_(max_reply_bytes), process_(::getpid()) {
  if (tls != nullptr) channel_ = tls->secure(std::move(channel_), address.host, deadline);
  if (!address.password.empty()) {
    std::vector<std::string_view> words{"AUTH"};
    if (!address.user.empty()) words.emplace_back(address.user);
    words.emplace_back(address.password);
    (void)ask(words, deadline);
  }
  if (!address.database.empty()) (void)ask({"SELECT", address.database}, deadline);
}

bool RedisConnection::is_inherited() const noexcept {
  return process_ != ::getpid();
}

RedisReply RedisConnection::ask(const std::vector<std::string_view>& words, Deadline deadline) {
  was_closed_ = true;  // unless a byte arrives
  channel_->send(encode_command(words), deadline);
  std::array<char, 65536> bytes;
  for (;;) {
    const std::size_t count = channel_->receive(bytes.data(), bytes.size(), deadline);
    if (count == 0) throw StoreFailure("it has closed the connection");
    was_closed_ = false;
    reader_.feed({bytes.data(), count});
    std::optional<RedisReply> reply = reader_.next();
    if (!reply) continue;
    if (!reader_.is_empty()) throw StoreFailure("it sends more than the answer");
    if (reply->kind == RedisReply::Kind::error)
      throw StoreFailure(fmt::format("it refuses {}: {}", words.front(), printable(reply->text)));
    return *std::move(reply);
  }
}

TMAJIT_END
