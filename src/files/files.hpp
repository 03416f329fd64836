#pragma once

#include "files/file_system.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

TMAJIT_BEGIN

/// The files that read_file() reads: those of any user, or only those of trusted users (trust.hpp).
enum class Writer { anyone, trusted };

/// The first `limit` bytes of a regular file. `error` is an I/O error, for example ENOENT. A file that is not
/// regular gives EINVAL. With Writer::trusted, a file that an untrusted user may have written
/// (is_trusted_file) gives EPERM. Never blocks on a pipe. `time`, unless null, becomes the time of the file's
/// last change.
///
/// On a network file system a file that another machine replaces or removes while it is read gives ESTALE.
/// It is then opened anew, once.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::uint64_t limit,
                                    std::error_code& error, Writer writer = Writer::anyone,
                                    FileTime* time = nullptr);

/// Replaces the file `path` by a file with these bytes, atomically: the bytes are written to a file with a
/// unique name in `folder`, which must be on the filesystem of `path`, and that file is renamed. The umask is
/// removed from `mode`.
///
/// The bytes are on the disk before the rename. Without that, a power cut may leave an empty or torn file
/// under the new name, in place of the old one. Whether the rename itself survives a power cut is open.
[[nodiscard]] std::error_code replace_file(const std::filesystem::path& folder,
                                           const std::filesystem::path& path, std::string_view bytes,
                                           unsigned mode = 0666);

/// Creates the folder `path` and its missing parents, accessible to this user only (0700).
[[nodiscard]] std::error_code make_private_folder(const std::filesystem::path& path);

/// Calls replace_file() with the folder `pending`, for a file of a cache that only this user may write.
/// Creates missing folders, accessible to this user only.
[[nodiscard]] std::error_code publish_file(const std::filesystem::path& pending,
                                           const std::filesystem::path& path, std::string_view bytes);

/// The files to which append_file() appends: any file, also through a link and in a pipe, or only a regular
/// file that has one name and that only trusted users may write.
enum class AppendTo { any_file, own_file };

/// Appends bytes to a file, which is created (0644) if it does not exist, by one system call. So bytes that
/// several processes append do not mix, on a local filesystem. An error may leave a part of them. With
/// AppendTo::own_file, a symbolic link gives ELOOP, and any other file that is not such a file gives EPERM.
/// `size`, unless null, becomes the file's size; 0 after an error.
[[nodiscard]] std::error_code append_file(const std::filesystem::path& path, std::string_view bytes,
                                          AppendTo target, std::uint64_t* size = nullptr);

// Files of a cache that are changed in place. In a folder with the sticky bit another user could have made a
// link with such a name to any file. So links are not followed, and a file that has another name or another
// owner is not changed.

/// Sets the size of a file that exists. Returns whether that succeeded.
bool set_file_size(const std::filesystem::path& path, std::uint64_t bytes);

/// Removes a file. Returns whether this call removed it. A file that does not exist is no error.
bool remove_file(const std::filesystem::path& path, std::error_code& error);

/// The names in a folder. A folder that does not exist has none.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& folder, std::error_code& error);

TMAJIT_END
