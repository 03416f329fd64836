#include "cache/bytes.hpp"

#include <llvm/Support/Endian.h>
#include <llvm/Support/xxhash.h>

TMAJIT_BEGIN

namespace endian = llvm::support::endian;

void ByteWriter::u32(std::uint32_t value) {
  char bytes[sizeof value];
  endian::write32le(bytes, value);
  bytes_.append(bytes, sizeof bytes);
}

void ByteWriter::u64(std::uint64_t value) {
  char bytes[sizeof value];
  endian::write64le(bytes, value);
  bytes_.append(bytes, sizeof bytes);
}

void ByteWriter::text(std::string_view text) {
  u64(text.size());
  raw(text);
}

std::uint32_t ByteReader::u32() {
  const auto bytes = raw(sizeof(std::uint32_t));
  return bytes.empty() ? 0 : endian::read32le(bytes.data());
}

std::uint64_t ByteReader::u64() {
  const auto bytes = raw(sizeof(std::uint64_t));
  return bytes.empty() ? 0 : endian::read64le(bytes.data());
}

std::string_view ByteReader::raw(std::size_t bytes) {
  if (!ok_ || bytes > rest_.size()) {
    ok_ = false;
    return {};
  }
  const auto result = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return result;
}

std::string_view ByteReader::text() {
  const auto bytes = u64();
  return raw(bytes);
}

std::uint64_t checksum(std::string_view bytes) {
  return llvm::xxHash64(llvm::StringRef(bytes.data(), bytes.size()));
}

TMAJIT_END
