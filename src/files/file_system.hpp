#pragma once

#include <tmajit/version.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

struct stat;

TMAJIT_BEGIN

/// The time of a file, or of a clock that is compared with files' times.
using FileTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

/// The system calls by which this library uses files that processes or machines share. Each function is the
/// call of its name: it returns −1 and sets errno if it fails. Calls that a signal interrupts are repeated,
/// except close().
///
/// This is the only way to those files, so that a test can replace it by a file system that fails.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  virtual int open(const std::string& path, int flags, unsigned mode);
  virtual ::ssize_t read(int file, char* bytes, std::size_t count);
  virtual ::ssize_t write(int file, const char* bytes, std::size_t count);
  virtual int ftruncate(int file, std::uint64_t bytes);
  /// fdatasync(): returns when the file's bytes are on the disk, or on the server.
  virtual int sync(int file);
  virtual int close(int file);

  virtual int stat(const std::string& path, struct stat& info);
  virtual int lstat(const std::string& path, struct stat& info);
  virtual int fstat(int file, struct stat& info);
  virtual int rename(const std::string& from, const std::string& to);
  virtual int unlink(const std::string& path);
  virtual int mkdir(const std::string& path, unsigned mode);
  /// Sets a file's time to now, by the clock of the machine that has the disk.
  virtual int touch(const std::string& path);

  /// The names in a folder, without "." and "..".
  virtual int list(const std::string& folder, std::vector<std::string>& names);
  /// Makes a network file system ask its server for the folder's state. Without it, a client may deny for
  /// seconds that a file exists which another client has made.
  virtual int refresh(const std::string& folder);

  /// flock(LOCK_EX | LOCK_NB): never waits.
  virtual int lock(int file);
  virtual int unlock(int file);

  /// This machine's clock. It may jump, and may differ from the clock of files' times.
  virtual FileTime now();
};

/// The file system of this process.
[[nodiscard]] FileSystem& file_system() noexcept;
/// Replaces it, for tests, by one that outlives all calls. Returns the one that was used before.
FileSystem& replace_file_system(FileSystem& replacement) noexcept;

/// The time of last change, between 1970 and 2255.
[[nodiscard]] FileTime modified(const struct stat& info) noexcept;

TMAJIT_END
