#pragma once

#include <tmajit/cache.hpp>

#include <cstdint>
#include <filesystem>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

/// The layout of a cache folder. Nothing else in the folder is ever touched.
///
///   entries/ab/cdef…            a compiled kernel, by its key
///   compilers/0123456789abcdef  an NVRTC build that has stored kernels here
///   pending/                    files that are not published yet
///   locks/abcdef…               lock of the process that makes the kernel with this key
///   size, locks/size            has a byte for each 4 KiB of entries, and the lock for evicting entries
///   tuning.json, locks/tuning   tuned choices, and the lock for changing them
inline std::filesystem::path entries_folder(const std::filesystem::path& cache) {
  return cache / "entries";
}
inline std::filesystem::path compilers_folder(const std::filesystem::path& cache) {
  return cache / "compilers";
}
/// The record of a compiler by the checksum of its content.
inline std::filesystem::path compiler_path(const std::filesystem::path& cache, std::uint64_t checksum) {
  return compilers_folder(cache) / fmt::format("{:016x}", checksum);
}
inline std::filesystem::path pending_folder(const std::filesystem::path& cache) {
  return cache / "pending";
}
inline std::filesystem::path locks_folder(const std::filesystem::path& cache) {
  return cache / "locks";
}

inline std::filesystem::path size_path(const std::filesystem::path& cache) {
  return cache / "size";
}
inline std::filesystem::path size_lock_path(const std::filesystem::path& cache) {
  return locks_folder(cache) / "size";
}

inline std::filesystem::path tuning_path(const std::filesystem::path& cache) {
  return cache / "tuning.json";
}
inline std::filesystem::path tuning_lock_path(const std::filesystem::path& cache) {
  return locks_folder(cache) / "tuning";
}

inline constexpr std::size_t entry_folder_digits = 2;  ///< 256 folders, so that none has too many files

inline std::filesystem::path entry_path(const std::filesystem::path& cache, const CacheKey& key) {
  const auto hex = key.hex();
  return entries_folder(cache) / hex.substr(0, entry_folder_digits) / hex.substr(entry_folder_digits);
}

/// The lock that a process holds while it makes the kernel of `key`.
inline std::filesystem::path making_lock_path(const std::filesystem::path& cache, const CacheKey& key) {
  return locks_folder(cache) / key.hex();
}

TMAJIT_END
