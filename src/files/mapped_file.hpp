#pragma once

#include "files/files.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>

TMAJIT_BEGIN

/// A regular file, mapped into memory for reading. The kernel shares its pages between processes.
class MappedFile {
 public:
  /// `error` is set as read_file() sets it; the file then has no bytes.
  MappedFile(const std::filesystem::path& path, std::error_code& error);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::string_view bytes() const noexcept { return {data_, size_}; }
  /// Whether the file still has all its bytes. An access to bytes that another process has cut off raises
  /// SIGBUS. Renaming another file to its path does not change the mapped one.
  [[nodiscard]] bool is_whole() const noexcept;
  /// is_trusted_file() of this file.
  [[nodiscard]] bool is_trusted() const noexcept;

 private:
  int file_ = -1;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

TMAJIT_END
