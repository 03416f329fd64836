#pragma once

#include <tmajit/cache.hpp>

#include <filesystem>

TMAJIT_BEGIN

/// What lies where in a cache folder: entries/ab/cdef…, compilers/0123456789abcdef, and unpublished files in
/// pending/; tuned choices in tuning.json. Nothing else in the folder is ever touched.
inline std::filesystem::path entries_folder(const std::filesystem::path& cache) {
  return cache / "entries";
}
inline std::filesystem::path compilers_folder(const std::filesystem::path& cache) {
  return cache / "compilers";
}
inline std::filesystem::path pending_folder(const std::filesystem::path& cache) {
  return cache / "pending";
}

inline std::filesystem::path tuning_path(const std::filesystem::path& cache) {
  return cache / "tuning.json";
}

inline constexpr std::size_t entry_folder_digits = 2;  ///< 256 folders keep each one's listing short

inline std::filesystem::path entry_path(const std::filesystem::path& cache, const CacheKey& key) {
  const auto hex = key.hex();
  return entries_folder(cache) / hex.substr(0, entry_folder_digits) / hex.substr(entry_folder_digits);
}

TMAJIT_END
