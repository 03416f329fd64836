#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Appends numbers (little-endian) and texts (behind their length) to a buffer.
class ByteWriter {
 public:
  void u32(std::uint32_t value);
  void u64(std::uint64_t value);
  void raw(std::string_view bytes) { bytes_.append(bytes); }
  void text(std::string_view text);
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::string take() noexcept { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads them back. A read past the end gives zero or nothing, and ok() is false from then on; no length
/// that is read is trusted further than the bytes that are there.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint32_t u32();
  std::uint64_t u64();
  std::string_view raw(std::size_t bytes);
  std::string_view text();

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

/// xxHash64: finds damage, not intent. Whoever may write to the cache could redo any checksum.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes);

TMAJIT_END
