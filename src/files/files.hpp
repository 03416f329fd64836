#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

TMAJIT_BEGIN

/// The files that read_file() reads: those of any user, or only those of trusted users (trust.hpp).
enum class Writer { anyone, trusted };

/// The first `limit` bytes of a regular file. `error` is an I/O error, for example ENOENT. A file that is not
/// regular gives EINVAL. With Writer::trusted, a file that an untrusted user may have written
/// (is_trusted_file) gives EPERM. Never blocks on a pipe.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::uint64_t limit,
                                    std::error_code& error, Writer writer = Writer::anyone);

/// Replaces the file `path` by a file with these bytes, atomically: the bytes are written to a file with a
/// unique name in `folder`, which must be on the filesystem of `path`, and that file is renamed. The umask is
/// removed from `mode`.
///
/// There is no fsync, which would cost every store milliseconds. After a power cut a cache entry may be torn
/// or missing: its checksum shows that, and a compile repairs it.
[[nodiscard]] std::error_code replace_file(const std::filesystem::path& folder,
                                           const std::filesystem::path& path, std::string_view bytes,
                                           unsigned mode = 0666);

/// Creates the folder `path` and its missing parents, accessible to this user only (0700).
[[nodiscard]] std::error_code make_private_folder(const std::filesystem::path& path);

/// Calls replace_file() with the folder `pending`, for a file of a cache that only this user may write.
/// Creates missing folders, accessible to this user only.
[[nodiscard]] std::error_code publish_file(const std::filesystem::path& pending,
                                           const std::filesystem::path& path, std::string_view bytes);

TMAJIT_END
