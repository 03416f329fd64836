#include "fleet/redis_reply.hpp"

#include "fleet/store.hpp"

#include <hiredis/hiredis.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The longest array that tmajit asks for. hiredis would take memory for any length that a server names.
constexpr std::size_t max_items = 1024;

/// Puts a reply in its place: into the array that contains it, or a new object. hiredis is C and knows no
/// exceptions; null ends the reading.
void* place(const redisReadTask* task, RedisReply reply) noexcept try {
  if (task->parent == nullptr) return new RedisReply(std::move(reply));
  auto& items = static_cast<RedisReply*>(task->parent->obj)->items;
  const auto index = static_cast<std::size_t>(task->idx);
  if (index >= items.size()) return nullptr;
  items[index] = std::move(reply);
  return &items[index];
} catch (...) {
  return nullptr;
}

void* create_string(const redisReadTask* task, char* bytes, std::size_t count) {
  using Kind = RedisReply::Kind;
  const Kind kind = task->type == REDIS_REPLY_ERROR    ? Kind::error
                    : task->type == REDIS_REPLY_STATUS ? Kind::status
                                                       : Kind::text;
  try {
    return place(task, {.kind = kind, .text = std::string(bytes, count)});
  } catch (...) {
    return nullptr;
  }
}

template <class Count>  // int or size_t, by hiredis's version
void* create_array(const redisReadTask* task, Count count) {
  if (static_cast<std::size_t>(count) > max_items) return nullptr;
  try {
    RedisReply reply{.kind = RedisReply::Kind::array};
    reply.items.resize(static_cast<std::size_t>(count));
    return place(task, std::move(reply));
  } catch (...) {
    return nullptr;
  }
}

void* create_integer(const redisReadTask* task, long long value) {
  return place(task, {.kind = RedisReply::Kind::integer, .integer = value});
}

void* create_nil(const redisReadTask* task) {
  return place(task, {});
}

void free_reply(void* reply) {
  delete static_cast<RedisReply*>(reply);
}

/// Replies of the protocol's version 3 are rejected: tmajit does not ask for it. Without these functions
/// hiredis 1.0 and later would return small numbers as pointers.
template <class Functions>
void reject_version_3(Functions& functions) {
  if constexpr (requires { functions.createDouble; }) {
    functions.createDouble = [](const redisReadTask*, double, char*, std::size_t) -> void* {
      return nullptr;
    };
  }
  if constexpr (requires { functions.createBool; }) {
    functions.createBool = [](const redisReadTask*, int) -> void* { return nullptr; };
  }
}

redisReplyObjectFunctions make_functions() {
  redisReplyObjectFunctions functions{};
  functions.createString = &create_string;
  functions.createArray = &create_array;
  functions.createInteger = &create_integer;
  functions.createNil = &create_nil;
  functions.freeObject = &free_reply;
  reject_version_3(functions);
  return functions;
}

redisReader* make_reader() {
  static redisReplyObjectFunctions functions = make_functions();
  redisReader* const reader = ::redisReaderCreateWithFunctions(&functions);
  if (reader == nullptr) throw StoreFailure("hiredis has no memory");
  return reader;
}

}  // namespace

void RedisReplyReader::Free::operator()(redisReader* reader) const noexcept {
  ::redisReaderFree(reader);
}

RedisReplyReader::RedisReplyReader(std::size_t max_bytes) : reader_(make_reader()), max_bytes_(max_bytes) {}

void RedisReplyReader::feed(std::string_view bytes) {
  pending_ += bytes.size();
  if (pending_ > max_bytes_) throw StoreFailure(fmt::format("its answer has more than {} bytes", max_bytes_));
  if (::redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK)
    throw StoreFailure("hiredis has no memory");
}

std::optional<RedisReply> RedisReplyReader::next() {
  void* reply = nullptr;
  if (::redisReaderGetReply(reader_.get(), &reply) != REDIS_OK)
    throw StoreFailure(fmt::format("its answer is not Redis's: {}", reader_->errstr));
  if (reply == nullptr) return std::nullopt;
  const std::unique_ptr<RedisReply> owned(static_cast<RedisReply*>(reply));
  pending_ = 0;
  return std::move(*owned);
}

bool RedisReplyReader::is_empty() const noexcept {
  return reader_->pos == reader_->len;
}

TMAJIT_END
