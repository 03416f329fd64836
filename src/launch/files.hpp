#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <llvm/Support/MemoryBuffer.h>

TMAJIT_BEGIN

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

/// The path that means standard input to readers and standard output to writers. A file of this name is ./-.
inline constexpr auto standard_stream = "-";

/// A whole file for reading: mapped if it is a large regular one, read into memory if it is a pipe. Standard
/// input is read once and kept, so that its name can be opened again.
class InputFile {
 public:
  /// Throws Error{io}.
  explicit InputFile(const std::filesystem::path& path);
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return std::as_bytes(std::span(text())); }
  /// The same bytes as characters, whose encoding is not known.
  [[nodiscard]] std::string_view text() const noexcept { return buffer_->getBuffer(); }

 private:
  std::shared_ptr<llvm::MemoryBuffer> buffer_;
};

/// A file that appears under its name whole or not at all: it is written without a name (or under a temporary
/// one in the same folder) and named by commit(). A pipe, a device and standard output are written directly.
class OutputFile {
 public:
  /// Opens the file, so that a folder that is missing or not writable is reported at once. Throws Error{io}.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws Error{io}: disk full, file too large …
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Reserves `size` bytes on the disk and maps them: their content at commit() becomes the file. Throws
  /// Error{io} if the disk has no room.
  [[nodiscard]] std::span<std::byte> reserve(std::uint64_t size);
  /// Flushes the file to the disk and gives it its name. Throws Error{io}.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what, int error) const;
  void open_unnamed();
  void publish();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< empty while the file has no name, or is written directly
  Descriptor file_;
  std::span<std::byte> mapped_;  ///< the memory that reserve() mapped, or empty
  bool direct_ = false;
};

/// Throws Error{invalid_argument} if two of the written files are the same file, or if a written file is also
/// read. Pipes and devices may be written several times.
void require_distinct(std::span<const std::filesystem::path> written,
                      std::span<const std::filesystem::path> read = {});

/// Writes all of `bytes` to `fd`. Throws Error{io}, "cannot write <name>: …".
void write_fully(int fd, std::span<const std::byte> bytes, std::string_view name);

TMAJIT_END
