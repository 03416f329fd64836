#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

/// Memory from mmap that unmaps itself.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::byte* data, std::size_t size) : data_(data), size_(size) {}
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A whole file for reading: mapped if it is a regular file, read into memory if it is a pipe.
class InputFile {
 public:
  /// Throws Error{io}.
  explicit InputFile(const std::filesystem::path& path);
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;

 private:
  Mapping mapping_;
  std::vector<std::byte> read_;
};

/// A file that appears under its name whole or not at all: it is written without a name (or under a temporary
/// one in the same folder) and named by commit(). A pipe or device is written directly.
class OutputFile {
 public:
  /// Opens the file, so that a folder that is missing or not writable is found out at once. Throws Error{io}.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws Error{io}: disk full, file too large …
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Reserves `size` bytes on the disk and maps them; what they hold when commit() is called is the file.
  /// Throws Error{io} if there is no room.
  [[nodiscard]] std::span<std::byte> reserve(std::uint64_t size);
  /// Brings everything to the disk and names the file. Throws Error{io}.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what, int error) const;
  void open_unnamed();
  void publish();

  std::filesystem::path path_;
  std::filesystem::path temporary_;  ///< empty while the file has no name, or is written directly
  Descriptor file_;
  Mapping mapping_;
  bool direct_ = false;
};

/// Writes all of `bytes` to `fd`. Throws Error{io}, "cannot write <name>: …".
void write_fully(int fd, std::span<const std::byte> bytes, std::string_view name);
/// The same to standard output.
void write_stdout(std::string_view text);
void write_stdout(std::span<const std::byte> bytes);

/// A failed write, a closed pipe or a mapped file that shrinks must end in an error message, not in a signal:
/// ignores SIGXFSZ and SIGPIPE, and turns SIGBUS into one line on standard error and exit code 1.
void install_signal_handling();

}  // namespace jitc
