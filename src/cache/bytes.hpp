#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <llvm/Support/Endian.h>
#include <llvm/Support/xxhash.h>

TMAJIT_BEGIN

/// Appends numbers (little-endian) and texts (their length, then their bytes) to a buffer.
class ByteWriter {
 public:
  void u32(std::uint32_t value) { number(value); }
  void u64(std::uint64_t value) { number(value); }
  void raw(std::string_view bytes) { bytes_.append(bytes); }
  void text(std::string_view text) {
    u64(text.size());
    raw(text);
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::string take() noexcept { return std::move(bytes_); }

 private:
  template <class Number>
  void number(Number value) {
    const llvm::support::little_t<Number> ordered(value);
    bytes_.append(reinterpret_cast<const char*>(&ordered), sizeof ordered);
  }

  std::string bytes_;
};

/// Reads what ByteWriter has written. A read past the end gives zero or nothing, and ok() is false from then
/// on. Lengths are checked against the bytes that remain.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint32_t u32() { return number<std::uint32_t>(); }
  std::uint64_t u64() { return number<std::uint64_t>(); }
  std::string_view raw(std::size_t bytes) {
    ok_ = ok_ && bytes <= rest_.size();
    if (!ok_) return {};
    const auto result = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return result;
  }
  std::string_view text() { return raw(u64()); }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  template <class Number>
  Number number() {
    const auto bytes = raw(sizeof(Number));
    llvm::support::little_t<Number> ordered(0);
    if (!bytes.empty()) std::memcpy(&ordered, bytes.data(), sizeof ordered);
    return ordered;
  }

  std::string_view rest_;
  bool ok_ = true;
};

/// xxHash64: detects damage, not tampering. A user with write access to the cache could redo any checksum.
[[nodiscard]] inline std::uint64_t checksum(std::string_view bytes) {
  return llvm::xxHash64(llvm::StringRef(bytes.data(), bytes.size()));
}

TMAJIT_END
