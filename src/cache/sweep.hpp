#pragma once

#include <tmajit/cache.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>

TMAJIT_BEGIN

/// Which entries a sweep removes. A file counts as whole blocks of 4 KiB, which is what most file systems
/// allocate.
struct SweepOrder {
  std::uint64_t max_bytes = 0;
  /// If more than max_bytes exist, the least recently used entries are removed until this remains.
  std::uint64_t target_bytes = 0;
  /// Entries that were used more recently stay, whatever the target is.
  std::chrono::seconds protected_age{0};
  /// Entries that were not used for longer are removed in any case.
  std::optional<std::chrono::seconds> unused_for = {};
};
struct SweepResult {
  DiskCache::Trimmed trimmed;
  std::error_code error;  ///< the first one; the sweep continues
};
/// Removes entries of a cache, and files that dead processes left. Other processes may remove, store and read
/// entries at the same time. Notes the remaining size.
SweepResult sweep(const std::filesystem::path& cache, const SweepOrder& order);

/// Notes that an entry was stored. If the cache may now exceed `max_bytes`, sweeps it, unless another process
/// does. 0 means no bound.
void keep_bounded(const std::filesystem::path& cache, std::uint64_t stored_bytes, std::uint64_t max_bytes);

TMAJIT_END
