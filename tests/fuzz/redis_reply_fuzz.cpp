// Reads arbitrary bytes as the replies of a Redis server, in pieces. They must be read, rejected by
// StoreFailure, or wait for more bytes. A reply that is a text is decoded as a signed and an unsigned entry.
#include "cache/entry_format.hpp"
#include "fleet/redis_reply.hpp"
#include "fleet/seal.hpp"
#include "fleet/store.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace tmajit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0];
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  constexpr std::size_t limit = 4096;
  try {
    RedisReplyReader reader(limit);
    while (!bytes.empty()) {
      reader.feed(bytes.substr(0, piece));
      bytes.remove_prefix(std::min(piece, bytes.size()));
      while (const auto reply = reader.next()) {
        if (reply->text.size() > limit || reply->items.size() > limit) std::abort();
        for (const char* secret : {"", "secret"}) {
          const Seal::Opened opened = Seal(secret).open("kernel", reply->text);
          if (opened.fault.empty()) (void)decode_entry(opened.bytes, CacheKey{});
          if (opened.fault.empty() && *secret != '\0') std::abort();  // a fuzzer cannot sign
        }
      }
    }
  } catch (const StoreFailure&) {
  }
  return 0;
}
