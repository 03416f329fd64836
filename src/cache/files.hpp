#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

TMAJIT_BEGIN

/// The first `limit` bytes of a regular file. `error` is an I/O error, ENOENT among them; one of a file that
/// is no regular file is EINVAL. Never blocks on a pipe.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::uint64_t limit,
                                    std::error_code& error);

/// A file that no other process sees before it is whole. It is written under a name of its own in `folder`,
/// which must be on the filesystem that the file is published on, and moved to its place by publish(), which
/// replaces what is there; without publish() it goes away with the object.
///
/// Nothing is fsynced: after a power cut an entry may be torn or missing, which its checksum shows and a
/// compile repairs, while fsync would cost every store milliseconds.
class PendingFile {
 public:
  PendingFile(const std::filesystem::path& folder, std::error_code& error);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::string_view bytes, std::error_code& error);
  /// Closes the file and renames it to `path`.
  void publish(const std::filesystem::path& path, std::error_code& error);

 private:
  void close(std::error_code& error);

  std::filesystem::path path_;  ///< empty when there is no file
  int descriptor_ = -1;
};

/// Makes `path` and what is missing above it, open to this user only (0700).
[[nodiscard]] std::error_code make_private_folder(const std::filesystem::path& path);

/// Publishes `bytes` as `path`, a file in a folder of the cache `cache`; makes the folders that are missing.
/// The cache's own is private if it is made here; those in it are as open as the umask has them, so that a
/// folder that a group shares stays shared.
[[nodiscard]] std::error_code publish_file(const std::filesystem::path& cache,
                                           const std::filesystem::path& path, std::string_view bytes);

TMAJIT_END
