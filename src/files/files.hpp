#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

TMAJIT_BEGIN

/// Writers whose files are read.
enum class Writer { anyone, trusted };

/// The first `limit` bytes of a regular file. `error` is an I/O error, for example ENOENT. A file that is not
/// regular gives EINVAL. A file that an untrusted user may have written (is_trusted_file) gives EPERM where
/// only files of trusted writers are read. Never blocks on a pipe.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::uint64_t limit,
                                    std::error_code& error, Writer writer = Writer::anyone);

/// Replaces the file `path` by one of these bytes, which no other process sees before it is whole: it is
/// written under a name of its own in `folder`, which must be on the filesystem of `path`, and moved to its
/// place. `mode` is less the umask.
///
/// Nothing is fsynced: after a power cut an entry may be torn or missing, which its checksum shows and a
/// compile repairs, while fsync would cost every store milliseconds.
[[nodiscard]] std::error_code replace_file(const std::filesystem::path& folder,
                                           const std::filesystem::path& path, std::string_view bytes,
                                           unsigned mode = 0666);

/// Makes `path` and what is missing above it, open to this user only (0700).
[[nodiscard]] std::error_code make_private_folder(const std::filesystem::path& path);

/// replace_file() by way of the folder `pending` for a file of a cache, which only this user may write to.
/// Makes the folders that are missing, open to this user only.
[[nodiscard]] std::error_code publish_file(const std::filesystem::path& pending,
                                           const std::filesystem::path& path, std::string_view bytes);

TMAJIT_END
