#pragma once

#include "files/file_system.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

TMAJIT_BEGIN

// The files of a cache folder, by the names of layout.hpp. Files of other names are never touched.

/// A pending file or a lock of this age belongs to a process that died: a store takes milliseconds, and no
/// process waits for a lock that long.
inline constexpr std::chrono::minutes abandoned_age{10};

/// Calls `visit(path)` for each file with the name of an entry. Returns the first error of listing folders;
/// the other folders are visited nevertheless.
std::error_code for_each_entry_file(const std::filesystem::path& cache,
                                    const std::function<void(const std::filesystem::path&)>& visit);
/// The files with the name of a compiler's record.
[[nodiscard]] std::vector<std::filesystem::path> compiler_files(const std::filesystem::path& cache,
                                                                std::error_code& error);

/// The size and time of a file; nullopt if it is no regular file or has gone.
struct FileState {
  std::uint64_t bytes = 0;
  FileTime time;
};
[[nodiscard]] std::optional<FileState> state_of(const std::filesystem::path& path);

/// Now, by the clock of the machine that has the cache's disk. That clock sets the times of files, so ages
/// do not depend on this machine's clock, which may differ. If the folder cannot be written, this machine's.
[[nodiscard]] FileTime clock_of(const std::filesystem::path& cache);

/// Removes pending files and locks of processes that died. Returns the first error.
std::error_code remove_abandoned(const std::filesystem::path& cache, FileTime now);

TMAJIT_END
