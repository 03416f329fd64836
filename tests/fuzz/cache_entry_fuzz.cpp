// Decodes arbitrary bytes as a cache entry, which must be refused or decoded without reading out of bounds. A
// decoded entry must encode to the same bytes.
#include "cache/bytes.hpp"
#include "cache/entry_format.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace tmajit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)read_entry_info(bytes, size);
  (void)decode_entry(bytes, CacheKey{});

  // The same bytes as the payload of a file with a valid header, whose checksum a fuzzer cannot guess.
  auto file = encode_entry(CacheKey{}, Artifact{}).substr(0, entry_header_bytes);
  ByteWriter numbers;
  numbers.u64(size);
  numbers.u64(checksum(bytes));
  std::memcpy(file.data() + 16, numbers.bytes().data(), numbers.bytes().size());
  file += bytes;
  const auto decoded = decode_entry(file, CacheKey{});
  if (decoded.artifact && encode_entry(CacheKey{}, *decoded.artifact) != file) std::abort();
  if (decoded.artifact.has_value() == !decoded.fault.empty()) std::abort();
  return 0;
}
