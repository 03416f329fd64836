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

/// Replaces the file `path` by one of these bytes, which no other process sees before it is whole: it is
/// written under a name of its own in `folder`, which must be on the filesystem of `path`, and moved to its
/// place.
///
/// Nothing is fsynced: after a power cut an entry may be torn or missing, which its checksum shows and a
/// compile repairs, while fsync would cost every store milliseconds.
[[nodiscard]] std::error_code replace_file(const std::filesystem::path& folder,
                                           const std::filesystem::path& path, std::string_view bytes);

/// Makes `path` and what is missing above it, open to this user only (0700).
[[nodiscard]] std::error_code make_private_folder(const std::filesystem::path& path);

/// Publishes `bytes` as `path`, a file in a folder of the cache `cache`, by way of a file in its folder
/// `pending`; makes the folders that are missing. The cache's own is private if it is made here; those in it
/// are as open as the umask has them, so that a folder that a group shares stays shared.
[[nodiscard]] std::error_code publish_file(const std::filesystem::path& cache,
                                           const std::filesystem::path& pending,
                                           const std::filesystem::path& path, std::string_view bytes);

TMAJIT_END
