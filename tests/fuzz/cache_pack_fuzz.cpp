// Reads arbitrary bytes as a pack, which must be refused or read without reading out of bounds. A directory
// that is accepted must find each of its own keys, and its entries must lie inside the file.
#include "cache/bytes.hpp"
#include "cache/entry_format.hpp"
#include "cache/pack_format.hpp"
#include "cache/zstandard.hpp"

#include <cstdint>
#include <cstdlib>

using namespace tmajit;

namespace {

void read(std::string_view bytes) {
  const DecodedPack decoded = decode_pack(bytes);
  if (decoded.view.has_value() == !decoded.fault.empty()) std::abort();
  if (!decoded.view) return;
  const Decompressor decompressor(decoded.view->dictionary);
  for (std::size_t number = 0; number < decoded.view->kernels(); ++number) {
    const PackRecord record = decoded.view->record(number);
    const auto found = decoded.view->find(record.key);
    if (!found || found->offset != record.offset) std::abort();
    if (record.offset > bytes.size() || record.bytes > bytes.size() - record.offset) std::abort();
    // A fuzzer cannot guess the checksums that guard these two.
    const auto entry = decompressor.decompress(bytes.substr(record.offset, record.bytes), record.whole_bytes);
    if (entry) (void)decode_entry(*entry, record.key);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  // The same bytes as a file with the right beginning, length and checksum, which a fuzzer cannot guess.
  if (size < pack_header_bytes) return 0;
  constexpr std::size_t schema_end = 12;
  constexpr std::size_t file_bytes_at = 16;
  ByteWriter length;
  length.u64(size);
  bytes.replace(0, schema_end, encode_pack({}, {}, {}), 0, schema_end);
  bytes.replace(file_bytes_at, length.bytes().size(), length.bytes());
  seal_pack(bytes);
  read(bytes);
  return 0;
}
